package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const onePolicy = "domain: d\npolicies:\n  - {id: p, limits: 5/m}\n"

// writePolicies writes a file in one step, as those who watch it like.
func writePolicies(t *testing.T, path, text string) {
	t.Helper()
	temp := filepath.Join(t.TempDir(), "new")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

// page asks the admin listener.
func (r *running) page(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get("http://" + r.addr(doorAdmin) + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// awaitPage waits until a page has a text.
func (r *running) awaitPage(t *testing.T, path, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, body := r.page(t, path)
		if strings.Contains(body, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q is not on %s:\n%s", want, path, body)
		}
	}
}

// TestCacheThatFailsIsTold: in the log once, on /config and as a metric.
func TestCacheThatFailsIsTold(t *testing.T) {
	dir := t.TempDir()
	file, cache := filepath.Join(dir, "p.yaml"), filepath.Join(dir, "cache")
	writePolicies(t, file, onePolicy)
	writePolicies(t, cache, "a file where the directory should be")
	const warned = "policies are not kept for the next start"
	s := startServe(t, "--config", file, "--cache-dir", cache)
	s.log.await(t, warned)
	s.awaitPage(t, "/config", `"cache_error": "keep the policies in `+cache+`: mkdir: not a directory"`)
	s.awaitPage(t, "/metrics", "weir_config_problems 2\n") // what was there cannot be used either
	if text := s.log.String(); strings.Contains(text, "nothing to do") {
		t.Errorf("there is something to do:\n%s", text)
	}
	writePolicies(t, file, strings.Replace(onePolicy, "5/m", "6/m", 1))
	s.awaitPage(t, "/config", `"serial": 2`)
	if err := os.Remove(cache); err != nil {
		t.Fatal(err)
	}
	s.loader.Reload()
	s.log.await(t, "policies are kept for the next start again")
	if n := strings.Count(s.log.String(), warned); n != 1 {
		t.Errorf("warned %d times:\n%s", n, s.log)
	}
	if _, body := s.page(t, "/config"); strings.Contains(body, "cache_error") {
		t.Errorf("still told: %s", body)
	}
}

// TestEmptyDirectoryIsNotReady: nobody wrote that there are to be no limits.
// Files that come, good ones, end it.
func TestEmptyDirectoryIsNotReady(t *testing.T) {
	dir := t.TempDir()
	s := startServe(t, "--config", dir)
	unready := func(when string) {
		t.Helper()
		if code, body := s.page(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "waiting for policies") {
			t.Errorf("%s: /readyz is %d %s", when, code, body)
		}
		resp, err := http.Post("http://"+s.addr(doorHTTP)+"/v1/check", "application/json", strings.NewReader(`{"domain": "d"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: a check is answered %d", when, resp.StatusCode)
		}
	}
	unready("empty")
	s.awaitPage(t, "/metrics", "weir_config_problems 1\n")
	writePolicies(t, filepath.Join(dir, "p.yaml"), "policies: 7\n")
	s.awaitPage(t, "/config", `"state": "left_out"`)
	unready("wrong")
	writePolicies(t, filepath.Join(dir, "p.yaml"), onePolicy)
	s.awaitPage(t, "/readyz", `"ready": true`)
	s.log.await(t, "policies loaded")
}

// TestLastFileDeletedIsTold: it takes effect, and nobody need wonder why.
func TestLastFileDeletedIsTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	writePolicies(t, file, onePolicy)
	s := startServe(t, "--config", dir)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.log.await(t, `level=WARN msg="no policy file is left: every request is let through"`)
	code, body := s.page(t, "/readyz")
	if code != http.StatusOK || !strings.Contains(body, `"policies: no file is left: every request is let through"`) || !strings.Contains(body, `"degraded": true`) {
		t.Errorf("/readyz is %d %s", code, body)
	}
	s.awaitPage(t, "/metrics", "weir_config_problems 1\n")
	writePolicies(t, file, onePolicy)
	s.awaitPage(t, "/readyz", `"degraded": false`)
}

// TestReadyIsSaidWhenItIs, and that it is not yet.
func TestReadyIsSaidWhenItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	writePolicies(t, file, "")
	s := startServe(t, "--config", file)
	s.log.await(t, `level=WARN msg="not ready" because="waiting for policies; policies: 1 of 1 files`)
	if text := s.log.String(); strings.Contains(text, "msg=ready") {
		t.Errorf("it is not:\n%s", text)
	}
	writePolicies(t, file, onePolicy)
	s.log.await(t, "msg=ready counters=")
	s.log.await(t, `msg="policy files are right again" files=1 still_wrong=0`)
}

// TestMendedFileIsTold: also when what is served never changed.
func TestMendedFileIsTold(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "p.yaml"), filepath.Join(dir, "q.yaml")
	writePolicies(t, file, onePolicy)
	writePolicies(t, other, strings.Replace(onePolicy, "domain: d", "domain: e", 1))
	s := startServe(t, "--config", dir)
	writePolicies(t, file, "policies: 7\n")
	writePolicies(t, other, "policies: 7\n")
	s.awaitPage(t, "/readyz", "2 of 2 files")
	writePolicies(t, file, onePolicy)
	s.log.await(t, `level=INFO msg="policy files are right again" files=2 still_wrong=1`)
	writePolicies(t, other, strings.Replace(onePolicy, "domain: d", "domain: e", 1))
	s.log.await(t, `level=INFO msg="policy files are right again" files=2 still_wrong=0`)
	if n := strings.Count(s.log.String(), "policies loaded"); n != 1 {
		t.Errorf("loaded %d times:\n%s", n, s.log)
	}
}
