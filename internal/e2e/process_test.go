package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of a test, on a machine that has other work.
const patience = time.Minute

// instance is a weir serve with addresses of its own, that can be started,
// stopped and started again.
type instance struct {
	t                 *testing.T
	grpc, http, admin string
	args, env         []string
	scheme            string
	web               *http.Client // for the admin listener

	cmd      *exec.Cmd
	out, err *output
	ended    chan struct{}
}

// newInstance prepares a weir serve with these arguments.
func newInstance(t *testing.T, args ...string) *instance {
	t.Helper()
	return &instance{t: t, grpc: holdPort(t), http: holdPort(t), admin: holdPort(t), args: args, scheme: "http", web: plain}
}

// serve starts a weir serve and waits until it is ready.
func serve(t *testing.T, args ...string) *instance {
	t.Helper()
	w := newInstance(t, args...)
	w.start()
	w.awaitReady()
	return w
}

// start starts the process. It sees no variable of the test's own environment
// that it could take for a setting.
func (w *instance) start() {
	w.t.Helper()
	w.cmd = exec.Command(binary, append([]string{"serve"}, w.args...)...)
	w.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(),
		"WEIR_GRPC=" + w.grpc, "WEIR_HTTP=" + w.http, "WEIR_ADMIN=" + w.admin,
	}, w.env...)
	if engine := engineOf(w.t); engine != "" {
		w.cmd.Env = append(w.cmd.Env, "WEIR_GRPC_ENGINE="+engine)
	}
	w.out, w.err = &output{}, &output{}
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.err
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	cmd, ended, log := w.cmd, make(chan struct{}), w.err
	w.ended = ended
	go func() {
		_ = cmd.Wait() // the exit code is looked at by who cares
		close(ended)
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // most have ended
		<-ended
		if w.t.Failed() {
			w.t.Logf("log of the process %d:\n%s", cmd.Process.Pid, log.tail(4000))
		}
	})
}

func (w *instance) awaitReady() {
	w.t.Helper()
	await(w.t, "the server to be ready", func() error {
		select {
		case <-w.ended:
			w.t.Fatalf("weir serve ended: %v\n%s", w.cmd.ProcessState, w.err)
		default:
		}
		status, body, err := w.get("/readyz")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d %s", status, body)
		}
		return err
	})
}

func (w *instance) signal(s syscall.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

// stop asks the process to end, and fails the test unless it does so well and
// within the 10 s that orchestrators are promised.
func (w *instance) stop() (took time.Duration) {
	w.t.Helper()
	began := time.Now()
	w.signal(syscall.SIGTERM)
	return w.awaitEnd(began)
}

func (w *instance) awaitEnd(began time.Time) (took time.Duration) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(10*time.Second - time.Since(began)):
		w.t.Fatal("it has not ended 10 s after SIGTERM")
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Fatalf("exit code %d after SIGTERM\n%s", code, w.err)
	}
	return time.Since(began)
}

// get asks the admin listener for a page.
func (w *instance) get(path string) (status int, body string, err error) {
	resp, err := w.web.Get(w.scheme + "://" + w.admin + path)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// page returns a page of the admin listener that must be there.
func (w *instance) page(path string) string {
	w.t.Helper()
	status, body, err := w.get(path)
	if err != nil || status != http.StatusOK {
		w.t.Fatalf("GET %s: %d %v\n%s", path, status, err, body)
	}
	return body
}

// plain keeps no connections: a server that drains has nobody to wait for.
var plain = &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}

// await tries until f has no error.
func await(t *testing.T, what string, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("waited %v for %s: %v", patience, what, err)
}

// output collects what a process prints.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) tail(n int) string {
	s := o.String()
	return s[max(0, len(s)-n):]
}

// has returns nil once the text was printed.
func (o *output) has(text string) func() error {
	return func() error {
		if s := o.String(); !strings.Contains(s, text) {
			return fmt.Errorf("%q is not in:\n%s", text, s)
		}
		return nil
	}
}
