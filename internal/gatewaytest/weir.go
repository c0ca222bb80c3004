package gatewaytest

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/proctest"
)

// BuildWeir builds the program into a directory.
func BuildWeir(dir string) (path string, err error) {
	// go test sees what is looked at here, not what go build reads: a cached pass
	// ends with a new source.
	err = filepath.WalkDir(Root(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "weir")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/weir")
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build weir: %w\n%s", err, out)
	}
	return path, nil
}

// Weir is a weir serve with addresses of its own.
type Weir struct {
	server
	HTTP, GRPC, Admin string

	web    *http.Client // who asks it in the name of the test
	scheme string
}

// StartWeir runs the program at path as weir serve with these arguments and
// returns once it is ready. It sees no variable of the test's own environment
// that it could take for a setting.
func StartWeir(t testing.TB, path string, args ...string) *Weir {
	t.Helper()
	w := newWeir(t, path, args)
	w.Start()
	return w
}

// StartSecureWeir is StartWeir for one whose arguments make it speak TLS, which
// the test itself does with this config.
func StartSecureWeir(t testing.TB, path string, config *tls.Config, args ...string) *Weir {
	t.Helper()
	w := newWeir(t, path, args)
	w.scheme = "https"
	w.web = &http.Client{Timeout: plain.Timeout, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config}}
	w.Start()
	return w
}

// StartUnreadyWeir is StartWeir for one that will not be ready.
func StartUnreadyWeir(t testing.TB, path string, args ...string) *Weir {
	t.Helper()
	w := newWeir(t, path, args)
	w.start()
	return w
}

func newWeir(t testing.TB, path string, args []string) *Weir {
	t.Helper()
	dir := t.TempDir()
	w := &Weir{HTTP: FreeAddr(t), GRPC: FreeAddr(t), Admin: FreeAddr(t), web: plain, scheme: "http"}
	w.server = server{t: t, addr: w.HTTP, command: proctest.Command{
		Path: path, Args: append([]string{"serve"}, args...), Dir: dir, Log: filepath.Join(dir, "log"),
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
			"WEIR_GRPC=" + w.GRPC, "WEIR_HTTP=" + w.HTTP, "WEIR_ADMIN=" + w.Admin,
		},
	}}
	return w
}

// Start starts it again, at the same addresses.
func (w *Weir) Start() {
	w.t.Helper()
	w.start()
	Await(w.t, "weir to be ready", func() error {
		_, err := w.admin("/readyz")
		return err
	})
}

// Metrics returns what Prometheus would read.
func (w *Weir) Metrics() string {
	w.t.Helper()
	text, err := w.admin("/metrics")
	if err != nil {
		w.t.Fatalf("gatewaytest: read metrics: %v", err)
	}
	return text
}

// admin gets a page of the admin listener.
func (w *Weir) admin(path string) (string, error) {
	resp, err := w.web.Get(w.scheme + "://" + w.Admin + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, resp.Status)
	}
	return string(text), err
}

// Stop ends it.
func (w *Weir) Stop() { w.t.Helper(); w.stop() }

// Pause makes it take connections and answer none.
func (w *Weir) Pause() {
	w.t.Helper()
	if err := w.proc.Pause(); err != nil {
		w.t.Fatalf("gatewaytest: pause weir: %v", err)
	}
}

// Resume undoes Pause.
func (w *Weir) Resume() {
	w.t.Helper()
	if err := w.proc.Resume(); err != nil {
		w.t.Fatalf("gatewaytest: resume weir: %v", err)
	}
}

// Remaining returns what is left of a policy's limit for the value of the one
// dimension that it counts by. It asks Weir directly, and charges nothing.
func (w *Weir) Remaining(policy, dimension, value string) int64 {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{
		"policy": policy, "mode": "peek", "dimensions": map[string]string{dimension: value}, "timeout_ms": 10_000,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := w.web.Post(w.scheme+"://"+w.HTTP+"/v1/check", "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var answer struct {
		Remaining *int64
		Source    string
	}
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusOK || answer.Remaining == nil || answer.Source != "store" {
		w.t.Fatalf("peek at %s for %s=%s: %s\n%s", policy, dimension, value, resp.Status, text)
	}
	return *answer.Remaining
}
