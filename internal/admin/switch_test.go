package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/degrade"
)

func switchHandler() (http.Handler, *degrade.Switch, *[]string) {
	s := degrade.NewSwitch(time.Now)
	var told []string
	return New(Options{Pages: SwitchPages(SwitchOptions{
		Switch: s,
		Known: func(domain, policy string) bool {
			return policy == "logins" && (domain == "api" || domain == "default")
		},
		Told: func(o SwitchOrder, changed []degrade.Forced) {
			for _, f := range changed {
				told = append(told, o.Who+" "+f.Scope.String())
			}
		},
	})}), s, &told
}

func post(h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/switch", strings.NewReader(body))
	r.Host = "localhost:6070"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestSwitchPage(t *testing.T) {
	h, s, told := switchHandler()
	if w := ask(h, "GET", "/switch"); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"forced":[]}` {
		t.Errorf("at first: %d %s", w.Code, w.Body)
	}
	w := post(h, `{"scope": "policy", "domain": "api", "policy": "logins", "on": true, "who": "ann", "why": "incident 7", "for": "30m"}`)
	var got SwitchStatus
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Forced) != 1 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	f := got.Forced[0]
	if f.Scope != "policy" || f.Domain != "api" || f.Policy != "logins" || f.Who != "ann" || f.Why != "incident 7" || f.Until.Sub(f.Since).Round(time.Minute) != 30*time.Minute {
		t.Errorf("%+v", f)
	}
	if !s.Forced("api", "logins") || s.Forced("", "") {
		t.Error("not the one policy is forced")
	}
	if w := post(h, `{"scope": "all", "on": true, "who": "ann", "why": "incident 7"}`); w.Code != 200 || !s.Forced("", "") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/switch"); strings.Count(w.Body.String(), `"scope"`) != 2 {
		t.Errorf("%s", w.Body)
	}
	if w := post(h, `{"scope": "all", "on": false, "who": "bob"}`); w.Code != 200 || s.On() {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if want := "ann api.logins,ann everything,bob api.logins,bob everything"; strings.Join(*told, ",") != want {
		t.Errorf("told %q, want %q", *told, want)
	}
}

func TestSwitchRefuses(t *testing.T) {
	h, s, told := switchHandler()
	const good = `{"scope": "all", "on": true, "who": "ann", "why": "x"}`
	for _, c := range []struct {
		name, body, says string
		header           []string
		want             int
	}{
		{"a form", good, "application/json", []string{"Content-Type", "text/plain"}, 415},
		{"no type", good, "application/json", []string{"Content-Type", ""}, 415},
		{"another site", good, "other sites", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another origin", good, "other sites", []string{"Origin", "http://evil.example"}, 403},
		{"no JSON", "on", "for example", nil, 400},
		{"more after it", good + good, "after it", nil, 400},
		{"a misspelt field", `{"scope": "all", "om": true, "who": "ann", "why": "x"}`, "om", nil, 400},
		{"no scope", `{"on": true, "who": "ann", "why": "x"}`, "scope", nil, 400},
		{"all and one", `{"scope": "all", "policy": "logins", "on": true, "who": "ann", "why": "x"}`, "scope", nil, 400},
		{"no policy", `{"scope": "policy", "on": true, "who": "ann", "why": "x"}`, "no policy", nil, 404},
		{"an unknown policy", `{"scope": "policy", "policy": "logout", "on": true, "who": "ann", "why": "x"}`, "rlconfig", nil, 404},
		{"nobody", `{"scope": "all", "on": true, "why": "x"}`, "who", nil, 400},
		{"nobody lifts", `{"scope": "all", "on": false}`, "who", nil, 400},
		{"no reason", `{"scope": "all", "on": true, "who": "ann"}`, "why", nil, 400},
		{"a line break", `{"scope": "all", "on": true, "who": "a\nb", "why": "x"}`, "who", nil, 400},
		{"no span", `{"scope": "all", "on": true, "who": "ann", "why": "x", "for": "long"}`, "30m", nil, 400},
		{"a span of nothing", `{"scope": "all", "on": true, "who": "ann", "why": "x", "for": "0s"}`, "30m", nil, 400},
		{"too long", `{"scope": "all", "on": true, "who": "ann", "why": "x", "for": "25h"}`, "24h", nil, 400},
		{"a large body", `{"scope": "` + strings.Repeat("a", 1<<17) + `"}`, "order", nil, 400},
	} {
		if w := post(h, c.body, c.header...); w.Code != c.want || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if s.On() || *told != nil {
		t.Errorf("something is forced: %+v, told %q", s.List(), *told)
	}
	// A policy that is gone can be lifted, and one without a domain is native.
	if w := post(h, `{"scope": "policy", "policy": "gone", "on": false, "who": "ann"}`); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := post(h, `{"scope": "policy", "policy": "logins", "on": true, "who": "ann", "why": "x"}`); w.Code != 200 || !s.Forced("default", "logins") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func FuzzSwitchOrder(f *testing.F) {
	f.Add(`{"scope": "policy", "domain": "api", "policy": "logins", "on": true, "who": "ann", "why": "x", "for": "30m"}`)
	f.Add(`{"scope": "all", "on": false, "who": "ann"}`)
	f.Fuzz(func(t *testing.T, body string) {
		h, s, told := switchHandler()
		w := post(h, body)
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered %q", body, w.Body)
		}
		if s.On() != (len(*told) > 0) || s.On() && w.Code != 200 {
			t.Fatalf("%q: %d, forced %v, told %q", body, w.Code, s.On(), *told)
		}
		for _, f := range s.List() {
			if f.Until.Sub(f.Since) > degrade.MaxForce || f.Who == "" || f.Why == "" {
				t.Fatalf("%q forces %+v", body, f)
			}
		}
	})
}
