package admin

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func all() Options {
	return Options{
		Health:  NewHealth("policies"),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, "weir_panics_total 0\n") }),
		Stats:   text("weir_panics_total: 0\n"),
		Rules:   text("api.tenant: 100/s\n"),
		Config:  func() Config { return Config{Version: "abc"} },
		Pages:   []Page{{"POST /reset", "forget a key", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, "done") })}},
	}
}

// ask sends a request the way a local tool does.
func ask(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost:6070"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	o := all()
	o.Health.Started("policies")
	h := New(o)
	for _, c := range []struct{ path, contentType, body string }{
		{"/livez", "text/plain; charset=utf-8", "ok\n"},
		{"/healthcheck", "text/plain; charset=utf-8", "OK"},
		{"/metrics", "", "weir_panics_total 0\n"},
		{"/stats", "text/plain; charset=utf-8", "weir_panics_total: 0\n"},
		{"/rlconfig", "text/plain; charset=utf-8", "api.tenant: 100/s\n"},
	} {
		w := ask(h, "GET", c.path)
		if w.Code != 200 || w.Body.String() != c.body || w.Header().Get("Content-Type") != c.contentType && c.contentType != "" {
			t.Errorf("%s: %d %q, %v", c.path, w.Code, w.Body, w.Header())
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", c.path, w.Header())
		}
	}
}

func TestIndexListsWhatThereIs(t *testing.T) {
	got := ask(New(all()), "GET", "/").Body.String()
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if !slices.IsSorted(lines) {
		t.Errorf("not sorted:\n%s", got)
	}
	for _, want := range []string{"/livez: ", "/readyz: ", "/healthcheck: ", "/metrics: ", "/stats: ", "/rlconfig: ", "/config: ", "/debug/pprof/: ", "/reset: forget a key (POST)"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("%s is not listed:\n%s", want, got)
		}
	}
	h := New(Options{})
	bare := ask(h, "GET", "/").Body.String()
	for _, path := range []string{"/metrics", "/stats", "/rlconfig", "/config"} {
		if strings.Contains(bare, path+":") || ask(h, "GET", path).Code != 404 {
			t.Errorf("%s is there without a source", path)
		}
	}
	if w := ask(h, "GET", "/readyz"); w.Code != 200 {
		t.Errorf("readyz without a Health: %d", w.Code)
	}
}

func TestMethods(t *testing.T) {
	h := New(all())
	for _, path := range []string{"/", "/livez", "/readyz", "/healthcheck", "/metrics", "/stats", "/rlconfig", "/config", "/debug/pprof/", "/debug/pprof/heap"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE"} {
			if w := ask(h, method, path); w.Code != 405 || !strings.Contains(w.Header().Get("Allow"), "GET") {
				t.Errorf("%s %s: %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
		if w := ask(h, "HEAD", path); w.Code == 405 {
			t.Errorf("HEAD %s: %d", path, w.Code)
		}
	}
	if w := ask(h, "GET", "/reset"); w.Code != 405 {
		t.Errorf("GET of a page that takes POST: %d", w.Code)
	}
	if w := ask(h, "GET", "/nothing"); w.Code != 404 {
		t.Errorf("a page that is not there: %d", w.Code)
	}
}

func TestReadiness(t *testing.T) {
	o := all()
	h := New(o)
	check := func(when string, status int, want Status) {
		t.Helper()
		w := ask(h, "GET", "/readyz")
		var got Status
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v in %s", when, err, w.Body)
		}
		if w.Code != status || !reflect.DeepEqual(got, want) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %+v, want %d %+v", when, w.Code, got, status, want)
		}
		wantCheck := map[int]int{200: 200, 503: 500}[status]
		if w := ask(h, "GET", "/healthcheck"); w.Code != wantCheck {
			t.Errorf("%s: healthcheck %d, want %d", when, w.Code, wantCheck)
		}
		if w := ask(h, "GET", "/livez"); w.Code != 200 {
			t.Errorf("%s: livez %d", when, w.Code)
		}
	}
	check("starting", 503, Status{State: "starting", Reasons: []string{"waiting for policies"}})
	o.Health.Started("policies")
	check("ready", 200, Status{State: "ready", Ready: true, Reasons: []string{}})
	o.Health.Degrade("store", "refused")
	check("degraded", 200, Status{State: "ready", Ready: true, Degraded: true, Reasons: []string{"store: refused"}})
	o.Health.Drain()
	check("draining", 503, Status{State: "draining", Degraded: true, Reasons: []string{"shutting down", "store: refused"}})
}

func TestDocumentsAreWholeOrNotThere(t *testing.T) {
	for want, err := range map[int]error{
		500: errors.New("disk on fire"),
		503: &weir.Error{Code: weir.CodeNotReady, Message: "no rate limit configuration loaded"},
	} {
		o := all()
		o.Rules = func(w io.Writer) error { say(w, "the first half"); return err }
		w := ask(New(o), "GET", "/rlconfig")
		if w.Code != want || strings.Contains(w.Body.String(), "half") || !strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("%d %s, want %d", w.Code, w.Body, want)
		}
	}
}

func TestConfigPage(t *testing.T) {
	o := all()
	if got := ask(New(o), "GET", "/config").Body.String(); !strings.Contains(got, `"files": []`) || !strings.Contains(got, `"problems": []`) {
		t.Errorf("an empty list is not a list: %s", got)
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	want := Config{
		Version: "abc", Serial: 3, Rules: 2, LoadedAt: at,
		Files: []File{{Name: "a.yaml", State: "stale", SHA256: "00", LoadedAt: at, Since: at}},
		Problems: Problems([]policy.Problem{
			{At: policy.Position{File: "a.yaml", Line: 3, Column: 5}, Code: "bad-limit", Message: "is zero", Hint: "use 1"},
			{Warning: true, Code: "no-files", Message: "has no policy file"},
		}),
	}
	o.Config = func() Config { return want }
	w := ask(New(o), "GET", "/config")
	var got Config
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if p := got.Problems; p[0].Severity != "error" || p[0].Line != 3 || p[1].Severity != "warning" {
		t.Errorf("%+v", p)
	}
}
