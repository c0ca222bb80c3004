package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

func TestDeniesWithHeadersAndBody(t *testing.T) {
	h := httplimit.New(decider(t, byIP))(ok)
	for i, left := range []string{"1", "0"} {
		w := get(h, "/")
		if w.Code != 200 || w.Body.String() != "hello" || w.Header().Get("X-RateLimit-Remaining") != left || w.Header().Get("RateLimit") == "" {
			t.Errorf("request %d: %d %v", i+1, w.Code, w.Header())
		}
	}
	w := get(h, "/")
	if w.Code != 429 || w.Header().Get("Retry-After") == "" || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	var body struct {
		Type     string
		Status   int
		Violated []string `json:"violated-policies"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Status != 429 || body.Violated[0] != "p" || !strings.HasSuffix(body.Type, "#quota-exceeded") {
		t.Errorf("%+v, %v: %s", body, err, w.Body)
	}
}

// TestSameOverAnyChecker: a checker that can nothing but check denies the same.
func TestSameOverAnyChecker(t *testing.T) {
	h := httplimit.New(remote{decider(t, byIP)})(ok)
	for i, want := range []int{200, 200, 429} {
		if w := get(h, "/"); w.Code != want {
			t.Errorf("request %d: %d", i+1, w.Code)
		}
	}
}

func TestDimensions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  string
		options []httplimit.Option
		pattern string
		ask     func(*http.Request)
		want    int // of the second request; the first passes if it is not 400
	}{
		{"method and path", "match: {route: GET /a/x}", nil, "/", nil, 429},
		{"another path", "match: {route: GET /b/x}", nil, "/", nil, 200},
		{"another method", "match: {route: POST /a/x}", nil, "/", nil, 200},
		{"route of the mux", "match: {route: '/a/{id}'}", nil, "/a/{id}", nil, 429},
		{"route of the mux with its method", "match: {route: 'GET /a/{id}'}", nil, "GET /a/{id}", nil, 429},
		{"another route", "match: {route: '/a/{name}'}", nil, "/a/{id}", nil, 200},
		{"path value", "match: {id: x}", []httplimit.Option{httplimit.WithDimensions(httplimit.PathValue("id"))}, "/a/{id}", nil, 429},
		{"constant", "match: {region: eu}", []httplimit.Option{httplimit.WithDimensions(httplimit.Constant("region", "eu"))}, "/", nil, 429},
		{"own path", "match: {path: /mine}", []httplimit.Option{httplimit.WithDimensions(httplimit.Constant("path", "/mine"))}, "/", nil, 429},
		{"header", "by: tenant", []httplimit.Option{tenant}, "/", func(r *http.Request) { r.Header.Set("X-Tenant", "a") }, 429},
		{"no header", "by: tenant", []httplimit.Option{tenant}, "/", nil, 200},
		{"empty header", "by: tenant", []httplimit.Option{tenant}, "/", func(r *http.Request) { r.Header.Set("X-Tenant", "") }, 200},
		{"two headers", "by: tenant", []httplimit.Option{tenant}, "/", func(r *http.Request) { r.Header["X-Tenant"] = []string{"a", "b"} }, 400},
		{"long header", "by: tenant", []httplimit.Option{tenant}, "/", func(r *http.Request) { r.Header.Set("X-Tenant", strings.Repeat("x", 5000)) }, 429},
		{"header of no text", "by: tenant", []httplimit.Option{tenant}, "/", func(r *http.Request) { r.Header.Set("X-Tenant", "\xff") }, 400},
		{"required", "{by: tenant, require: true}", []httplimit.Option{tenant}, "/", nil, 400},
		{"domain", "by: ip", []httplimit.Option{httplimit.WithDomain("other")}, "/", nil, 200},
		{"policy", "by: ip", []httplimit.Option{httplimit.WithPolicy("p")}, "/", nil, 429},
		{"policy that is gone", "by: ip", []httplimit.Option{httplimit.WithPolicy("q")}, "/", nil, 200},
		{"no address", "by: ip", nil, "/", func(r *http.Request) { r.RemoteAddr = "@" }, 400},
		{"long path", "match: {route: /search/*}", nil, "/", func(r *http.Request) { r.URL.Path = "/search/" + strings.Repeat("x", 9000) }, 429},
		{"long path by its end", "match: {route: '*/login'}", nil, "/", func(r *http.Request) { r.URL.Path = "/" + strings.Repeat("x", 9000) + "/login" }, 429},
		{"path of no text", "match: {route: /a/*}", nil, "/", func(r *http.Request) { r.URL.Path = "/a/\xff" }, 429},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "policies:\n  - " + strings.NewReplacer("{by", "{id: p, limits: [1/h], on_failure: open, by").Replace(tc.policy) + "\n"
			if !strings.HasPrefix(tc.policy, "{by") {
				text = "policies:\n  - " + tc.policy + "\n    id: p\n    limits: [1/h]\n    on_failure: open\n"
			}
			mux := http.NewServeMux()
			mux.Handle(tc.pattern, httplimit.New(decider(t, text), tc.options...)(ok))
			for i := range 2 {
				r := httptest.NewRequest(http.MethodGet, "/a/x", nil)
				if tc.ask != nil {
					tc.ask(r)
				}
				w := httptest.NewRecorder()
				mux.ServeHTTP(w, r)
				want := tc.want
				if i == 0 && want == 429 {
					want = 200
				}
				if w.Code != want {
					t.Errorf("request %d: %d %s, want %d", i+1, w.Code, w.Body, want)
				}
			}
		})
	}
}

func TestSkip(t *testing.T) {
	h := httplimit.New(decider(t, "policies:\n  - {id: p, limits: [1/h], on_failure: open}\n"),
		httplimit.WithSkip(httplimit.Paths("/health", "/static/*")),
		httplimit.WithSkip(httplimit.Methods(http.MethodOptions)))(ok)
	get(h, "/")
	for path, want := range map[string]int{"/": 429, "/health": 200, "/healthy": 429, "/static/a.css": 200, "/static": 429} {
		if w := get(h, path); w.Code != want || want == 200 && w.Header().Get("RateLimit") != "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	// What a handler or a proxy may read as another path than the rule does.
	for _, path := range []string{
		"/static/../api/login", "/static/%2e%2e/api", "/static/%2E./api", "/static/..%2fapi", "/static/..%2Fapi", "/static//api",
		"//static/api", "/static%2fapi", "/static/..%5capi", "/static/..;/api", "/static/%252e%252e/api", "/static/./api", "/health/..",
	} {
		if w := get(h, path); w.Code != 429 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/static/", "/static/a%20b.css", "/static/.well-known", "/static/a..b", "/static/%C3%A9", "/static/a?x=/../"} {
		if w := get(h, path); w.Code != 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	r, w := httptest.NewRequest(http.MethodOptions, "/", nil), httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("OPTIONS: %d", w.Code)
	}
}

func TestHeadersCanBeLeftOff(t *testing.T) {
	h := httplimit.New(decider(t, byIP), httplimit.WithoutHeaders())(ok)
	for range 2 {
		if w := get(h, "/"); len(w.Header()) > 1 { // Content-Type
			t.Errorf("%v", w.Header())
		}
	}
	if w := get(h, "/"); w.Code != 429 || w.Header().Get("RateLimit") == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestHeadersOfOneFamily(t *testing.T) {
	for _, tc := range []struct {
		option httplimit.Option
		want   string
	}{
		{httplimit.WithStandardHeaders(), "Ratelimit Ratelimit-Policy"},
		{httplimit.WithLegacyHeaders(), "X-Ratelimit-Limit X-Ratelimit-Remaining X-Ratelimit-Reset"},
	} {
		h := httplimit.New(decider(t, byIP), tc.option)(nothing)
		for range 2 {
			if have := strings.Join(slices.Sorted(maps.Keys(get(h, "/").Header())), " "); have != tc.want {
				t.Errorf("%s, want %s", have, tc.want)
			}
		}
		if w := get(h, "/"); w.Code != 429 || len(w.Header()) < 9 {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
}

func TestOwnDenial(t *testing.T) {
	h := httplimit.New(decider(t, byIP), httplimit.WithDenial(func(w http.ResponseWriter, r *http.Request, d *weir.Decision) {
		http.Error(w, "calm down: "+d.Rule+" "+r.URL.Path, http.StatusTeapot)
	}))(ok)
	get(h, "/")
	get(h, "/")
	if w := get(h, "/x"); w.Code != 418 || w.Body.String() != "calm down: p /x\n" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
}

func TestNoDecision(t *testing.T) {
	away := &weir.Error{Code: weir.CodeRefused, Message: "secret.internal:6379 is away"}
	dimension := func(err error) httplimit.Option {
		return httplimit.WithDimensions(func(_ *http.Request, dst []weir.Pair) ([]weir.Pair, error) { return dst, err })
	}
	for _, tc := range []struct {
		name    string
		checker weir.Checker
		options []httplimit.Option
		want    int
		told    int
	}{
		{"open", failing{away}, nil, 200, 1},
		{"closed", failing{away}, []httplimit.Option{httplimit.WithFailClosed()}, 503, 1},
		{"not a weir.Error", failing{errors.New("x")}, nil, 200, 1},
		{"undecided", failing{nil}, []httplimit.Option{httplimit.WithFailClosed()}, 503, 1},
		{"wrong", failing{&weir.Error{Code: weir.CodeInvalid, Field: "tenant", Message: "needed"}}, nil, 400, 1},
		{"no id given", failing{&weir.Error{Code: weir.CodeInvalid, Field: "id"}}, nil, 200, 1},
		{"dimension fails", decider(t, byIP), []httplimit.Option{dimension(errors.New("x"))}, 400, 1},
		{"dimension is away", decider(t, byIP), []httplimit.Option{dimension(away)}, 200, 1},
		{"dimension is away, closed", decider(t, byIP), []httplimit.Option{dimension(away), httplimit.WithFailClosed()}, 503, 1},
		{"own answer", failing{away}, []httplimit.Option{
			httplimit.WithFailClosed(),
			httplimit.WithErrorResponse(func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(502) }),
		}, 502, 1},
		{"no checker", nil, nil, 500, 0},
		{"nil dimension", decider(t, byIP), []httplimit.Option{httplimit.WithDimensions(nil)}, 500, 0},
		{"nil skip", decider(t, byIP), []httplimit.Option{httplimit.WithSkip(nil)}, 500, 0},
		{"nil option", decider(t, byIP), []httplimit.Option{nil}, 500, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := 0
			w := get(httplimit.New(tc.checker, append(tc.options, httplimit.WithErrorLog(func(error) { told++ }))...)(ok), "/")
			if w.Code != tc.want || told != tc.told {
				t.Errorf("%d %s, %d errors told", w.Code, w.Body, told)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the answer tells: %s", w.Body)
			}
			if w.Code == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "temporary-reduced-capacity")) {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
		})
	}
}

func TestRequestIDIsChargedOnce(t *testing.T) {
	e := decider(t, byTenant)
	h := httplimit.New(e, tenant, httplimit.WithRequestID("x-request-id"))(ok)
	for range 3 {
		get(h, "/", "X-Tenant", "a", "X-Request-Id", "one")
	}
	get(h, "/", "X-Tenant", "a", "X-Request-Id", "two")
	if n := used(t, e); n != 2 {
		t.Errorf("%d units for two ids", n)
	}
	for _, id := range []string{strings.Repeat("x", 257), "\xff"} {
		if w := get(h, "/", "X-Tenant", "a", "X-Request-Id", id); w.Code != 400 {
			t.Errorf("id %q: %d", id, w.Code)
		}
	}
}

// TestGoneIsNotServed: who hangs up before it was counted would otherwise be
// served as often as it likes.
func TestGoneIsNotServed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	degraded := func(_ context.Context, _ *weir.Request, d *weir.Decision) error {
		*d = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}
		return nil
	}
	for name, c := range map[string]weir.Checker{"an error": failing{&weir.Error{Code: weir.CodeCanceled}}, "fails open": checkFunc(degraded)} {
		h := httplimit.New(c)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Errorf("%s: served", name)
		}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		if w.Code != 503 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// TestUndecidedCostsAfterwards: what passed without a decision tells nothing of
// limits, and still pays for its response.
func TestUndecidedCostsAfterwards(t *testing.T) {
	e := decider(t, byTenant)
	checks := 0
	check := checkFunc(func(ctx context.Context, r *weir.Request, d *weir.Decision) error {
		if checks++; checks == 1 {
			return &weir.Error{Code: weir.CodeRefused}
		}
		return e.Check(ctx, r, d)
	})
	w := get(httplimit.New(check, tenant, httplimit.WithCostAfter(httplimit.BytesCost(1)))(ok), "/", "X-Tenant", "a")
	if n := used(t, e); w.Code != 200 || n != int64(len("hello")) || len(w.Header()) > 1 { // Content-Type
		t.Errorf("%d %v, %d units", w.Code, w.Header(), n)
	}
}

// TestNothingChargedNothingRefunded: what passed because nothing could be counted
// has nothing to give back when it fails, or units would come from nowhere.
func TestNothingChargedNothingRefunded(t *testing.T) {
	for name, lost := range map[string]func(*weir.Decision) error{
		"degraded": func(d *weir.Decision) error {
			*d = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}
			return nil
		},
		"undecided": func(*weir.Decision) error { return &weir.Error{Code: weir.CodeRefused} },
	} {
		e := decider(t, byTenant)
		checks := 0
		check := checkFunc(func(ctx context.Context, r *weir.Request, d *weir.Decision) error {
			if checks++; checks == 2 {
				return lost(d)
			}
			return e.Check(ctx, r, d)
		})
		limit := httplimit.New(check, tenant, httplimit.WithRefund(httplimit.ServerErrors))
		get(limit(ok), "/", "X-Tenant", "a")
		if w := get(limit(respond(500, "", "")), "/", "X-Tenant", "a"); w.Code != 500 || used(t, e) != 1 || checks != 2 {
			t.Errorf("%s: %d, %d units after %d checks", name, w.Code, used(t, e), checks)
		}
	}
}

// TestContextIsTheRequests: a checker sees what the request carries.
func TestContextIsTheRequests(t *testing.T) {
	type key struct{}
	var seen any
	h := httplimit.New(checkFunc(func(ctx context.Context, _ *weir.Request, d *weir.Decision) error {
		seen, d.Verdict = ctx.Value(key{}), weir.Allow
		return nil
	}))(ok)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	h.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(t.Context(), key{}, 7)))
	if seen != 7 {
		t.Errorf("context has %v", seen)
	}
}

type checkFunc func(context.Context, *weir.Request, *weir.Decision) error

func (f checkFunc) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	return f(ctx, r, d)
}
