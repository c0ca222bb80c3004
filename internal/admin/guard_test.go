package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		host    string
		allowed []string
		ok      bool
	}{
		{"localhost", nil, true},
		{"LocalHost:6070", nil, true},
		{"localhost.", nil, true},
		{"weir.localhost:6070", nil, true},
		{"127.0.0.1:6070", nil, true},
		{"[::1]:6070", nil, true},
		{"[::1]", nil, true},
		{"[fe80::1%eth0]:6070", nil, true},
		{"10.1.2.3:6070", nil, true}, // a probe of the pod's own address
		{"", nil, true},              // HTTP/1.0
		{"evil.example", nil, false},
		{"evil.example:6070", nil, false},
		{"localhost.evil.example", nil, false},
		{"notlocalhost", nil, false},
		{"127.0.0.1.evil.example", nil, false},
		{"127.0.0.1@evil.example", nil, false},
		{"2130706433", nil, false}, // an address to some, a name to us
		{"weir.internal:6070", nil, false},
		{"weir.internal:6070", []string{"weir.internal"}, true},
		{"WEIR.internal.", []string{"Weir.Internal:6070"}, true},
		{"a.weir.internal", []string{"weir.internal"}, false},
		{"evil.example", []string{"*"}, true},
	} {
		o := all()
		o.Hosts = c.allowed
		w := ask(New(o), "GET", "/livez", "Host", c.host)
		if ok := w.Code == 200; ok != c.ok || !ok && w.Code != 403 {
			t.Errorf("host %q with %q allowed: %d", c.host, c.allowed, w.Code)
		}
	}
}

func TestRefusalIsPlainText(t *testing.T) {
	w := ask(New(all()), "GET", "/", "Host", "<script>alert(1)</script>")
	if w.Code != 403 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") {
		t.Errorf("policy %q", got)
	}
}

func TestOtherSites(t *testing.T) {
	h := New(all())
	for _, c := range []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{"a page's image", "GET", "/debug/pprof/heap", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"a page's fetch", "GET", "/config", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"a link", "GET", "/config", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"the address bar", "GET", "/config", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 200},
		{"our own page", "GET", "/config", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"a tool", "POST", "/reset", nil, 200},
		{"another site's form", "POST", "/reset", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"an old browser's form", "POST", "/reset", []string{"Origin", "http://evil.example"}, 403},
		{"our own form", "POST", "/reset", []string{"Sec-Fetch-Site", "same-origin"}, 200},
	} {
		if w := ask(h, c.method, c.path, c.header...); w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
	}
}

func TestProfiles(t *testing.T) {
	h := New(all())
	for path, want := range map[string]int{
		"/debug/pprof/":                       200,
		"/debug/pprof/heap":                   200,
		"/debug/pprof/goroutine?debug=1":      200,
		"/debug/pprof/nothing":                404,
		"/debug/pprof/cmdline":                404,
		"/debug/pprof/symbol":                 200,
		"/debug/pprof/profile?seconds=0":      400,
		"/debug/pprof/profile?seconds=121":    400,
		"/debug/pprof/profile?seconds=x":      400,
		"/debug/pprof/trace?seconds=1e9":      400,
		"/debug/pprof/trace?seconds=NaN":      400,
		"/debug/pprof/heap?seconds=86400":     400,
		"/debug/pprof/trace?seconds=0.000001": 200,
	} {
		if w := ask(h, "GET", path); w.Code != want {
			t.Errorf("%s: %d, want %d: %.100s", path, w.Code, want, w.Body)
		}
	}
	if w := ask(h, "POST", "/debug/pprof/symbol"); w.Code != 200 || !strings.Contains(w.Body.String(), "num_symbols") {
		t.Errorf("symbol: %d %s", w.Code, w.Body)
	}
}

// No page tells how the process was started.
func TestNoSecrets(t *testing.T) {
	t.Setenv("WEIR_REDIS_PASSWORD", "hunter2hunter2")
	h := New(all())
	for _, path := range []string{"/", "/config", "/readyz", "/stats", "/rlconfig", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		if body := ask(h, "GET", path).Body.String(); strings.Contains(body, "hunter2") || strings.Contains(body, "-test.") {
			t.Errorf("%s tells:\n%s", path, body)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	o := all()
	var read int64
	var err error
	o.Pages = []Page{{"POST /body", "", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		read, err = io.Copy(io.Discard, r.Body)
	})}}
	r := httptest.NewRequest("POST", "/body", strings.NewReader(strings.Repeat("x", 2*maxBody)))
	r.Host = "localhost"
	New(o).ServeHTTP(httptest.NewRecorder(), r)
	if read != maxBody || err == nil {
		t.Errorf("read %d bytes, %v", read, err)
	}
}
