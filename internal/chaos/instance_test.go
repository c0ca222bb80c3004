//go:build !race

package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/proctest"
)

// patience bounds waits for what is not judged by its time.
const patience = 30 * time.Second

var built struct {
	sync.Once
	dir, path string
	err       error
}

// binary is the program under test, built once and without the race detector.
func binary(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "weir-chaos-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "weir")
		out, err := exec.Command("go", "build", "-buildvcs=false", "-o", built.path, "../../cmd/weir").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build weir: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	precedence()
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // of a machine's temporary files
	}
	os.Exit(code)
}

// instance is one weir serve.
type instance struct {
	t           testing.TB
	proc        *proctest.Process
	grpc, admin string
	log         string
	began       time.Time
}

// launch is how an instance is started.
type launch struct {
	args []string
	env  []string
	// host is the address it listens on; "" is loopback, with ports of its own.
	host string
	// in runs a command elsewhere, as in a namespace.
	in []string
	// policies are the suite's unless given.
	policies string
	// deadline of its checks, where it is not B.
	deadline time.Duration
}

// serve starts a weir serve with the suite's policies. It does not wait.
func serve(t testing.TB, l launch) *instance {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policies.yaml"), []byte(cmp.Or(l.policies, policies)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &instance{t: t, log: filepath.Join(dir, "weir.log")}
	w.grpc, w.admin = w.address(l.host, 8081), w.address(l.host, 6070)
	argv := append(append([]string{}, l.in...), binary(t), "serve", "--config", filepath.Join(dir, "policies.yaml"), "--insecure")
	argv = append(argv, l.args...)
	if l.deadline != 0 {
		argv = append(argv, "--deadline", l.deadline.String())
		if a, ok := t.(*attempt); ok {
			a.bound = min(l.deadline, shortForm.unfelt) // later than that disturbs whatever the deadline
		}
	}
	w.began = time.Now()
	proc, err := proctest.Spawn(proctest.Command{
		Path: argv[0], Args: argv[1:], Log: w.log,
		Env: append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
			"WEIR_GRPC=" + w.grpc, "WEIR_HTTP=" + w.address(l.host, 8080), "WEIR_ADMIN=" + w.admin,
		}, l.env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.proc = proc
	t.Cleanup(func() {
		_ = proc.Resume() // a stopped one cannot end well
		if err := proc.Stop(patience); err != nil {
			t.Errorf("stop weir: %v", err)
		}
		if t.Failed() {
			t.Logf("log of weir ends:\n%s", tail(w.log, 6000))
		}
	})
	return w
}

// address is one to listen on: a port that nobody else is given on loopback, the
// usual one in a namespace of its own.
func (w *instance) address(host string, port int) string {
	w.t.Helper()
	if host == "" {
		held, free, err := proctest.HoldPort()
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(free)
		host, port = "127.0.0.1", held
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// awaitReady waits until it should be sent requests, and returns how long that
// took since its start.
func (w *instance) awaitReady() time.Duration {
	w.t.Helper()
	await(w.t, "weir to be ready", func() error {
		if w.proc.Exited() {
			w.t.Fatalf("weir serve ended: %v\n%s", w.proc.Err(), tail(w.log, 6000))
		}
		_, err := w.page("/readyz")
		return err
	})
	return time.Since(w.began)
}

var web = &http.Client{Timeout: 5 * time.Second}

// page returns a page of the admin listener.
func (w *instance) page(path string) (string, error) {
	resp, err := web.Get("http://" + w.admin + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s", path, resp.StatusCode, b)
	}
	return string(b), err
}

// await tries until f has no error.
func await(t testing.TB, what string, f func() error) {
	t.Helper()
	err := errors.New("not tried")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("waited %v for %s: %v", patience, what, err)
}

// tail is the end of a file.
func tail(file string, n int) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-n):])
}
