package forwardauth_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/forwardauth"
	"github.com/weirlimit/weir/internal/httperr"
	"github.com/weirlimit/weir/memstore"
)

const policies = `
policies:
  - {id: ips, by: [ip], limits: [2/m], on_failure: closed}
  - {id: login, match: {route: POST /login}, by: [ip], limits: [1/m], on_failure: closed}
  - {id: tenants, by: [tenant], limits: [3/m], on_failure: closed}
`

func realEngine(t testing.TB, store weir.Store) *engine.Engine {
	t.Helper()
	return enginetest.New(t, policies, engine.Options{Store: store, Deadline: time.Second})
}

// seen is a checker that keeps what it was asked and lets everything pass.
type seen struct {
	req   weir.Request
	pairs string
	asked int
}

func (s *seen) Check(_ context.Context, r *weir.Request, d *weir.Decision) error {
	s.req, s.asked = *r, s.asked+1
	s.req.Descriptors = slices.Clone(r.Descriptors)
	var parts []string
	for _, p := range r.Descriptors[0].Pairs {
		parts = append(parts, p.Name+"="+p.Value)
	}
	s.pairs = strings.Join(parts, " ")
	*d = weir.Decision{Verdict: weir.Allow}
	return nil
}

func handler(t testing.TB, c weir.Checker, o identity.Options, headers ...forwardauth.Headers) http.Handler {
	t.Helper()
	r, err := identity.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &forwardauth.Settings{Resolver: r, Headers: forwardauth.DefaultHeaders()}
	if len(headers) > 0 {
		s.Headers = headers[0]
	}
	return forwardauth.New(forwardauth.Options{
		Checker: c, Settings: func() *forwardauth.Settings { return s }, Rejected: o.Rejected,
	})
}

// ask asks as a gateway on loopback does.
func ask(h http.Handler, query string, header ...string) *httptest.ResponseRecorder {
	return askFrom(h, "127.0.0.1:4711", query, header...)
}

func askFrom(h http.Handler, peer, query string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/v1/auth"+query, nil)
	r.RemoteAddr = peer
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAllowAndDeny(t *testing.T) {
	h := handler(t, realEngine(t, memstore.New()), identity.Options{})
	from := []string{"X-Forwarded-For", "203.0.113.7"}
	for range 2 {
		w := ask(h, "", from...)
		if w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("RateLimit") == "" || w.Header().Get("X-RateLimit-Limit") != "2" || w.Header().Get("X-Weir-Status") != "200" {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	for query, want := range map[string]int{"": 429, "?deny=403": 403, "?deny=401": 401, "?deny=429": 429, "?deny=503": 503} {
		w := ask(h, query, from...)
		if w.Code != want || w.Header().Get("X-Weir-Status") != "429" || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %v", query, w.Code, w.Header())
		}
		for _, name := range []string{
			"RateLimit", "RateLimit-Policy", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining",
			"X-RateLimit-Reset", "X-RateLimit-Policy", "X-RateLimit-Scope",
		} {
			if w.Header().Get(name) == "" {
				t.Errorf("%s: no %s in %v", query, name, w.Header())
			}
		}
		var body struct{ Status int }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Status != 429 {
			t.Errorf("%s: %s, %v", query, w.Body, err)
		}
	}
	if w := ask(h, "", "X-Forwarded-For", "203.0.113.8"); w.Code != http.StatusOK {
		t.Errorf("another client: %d", w.Code)
	}
}

// TestForgedXFFSpendsNobodyElsesQuota: behind a gateway that appends, what the
// client sent changes nothing.
func TestForgedXFFSpendsNobodyElsesQuota(t *testing.T) {
	h := handler(t, realEngine(t, memstore.New()), identity.Options{})
	for i, sent := range []string{"", "198.51.100.1, ", "garbage, "} {
		w := ask(h, "", "X-Forwarded-For", sent+"203.0.113.7")
		if want := []int{200, 200, 429}[i]; w.Code != want {
			t.Errorf("%q: %d, want %d", sent, w.Code, want)
		}
	}
	if w := ask(h, "", "X-Forwarded-For", "198.51.100.1"); w.Code != http.StatusOK || w.Header().Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("the address that was forged: %d %v", w.Code, w.Header())
	}
}

// away is a store that does not answer.
type away struct{ weir.Store }

func (away) Submit(b *weir.Batch, done func(*weir.Batch)) {
	b.Entries[0].Err = &weir.Error{Code: weir.CodeTimeout}
	done(b)
}

func TestFailClosed(t *testing.T) {
	h := handler(t, realEngine(t, away{}), identity.Options{})
	for query, want := range map[string]int{"": 503, "?deny=403": 403} {
		w := ask(h, query, "X-Forwarded-For", "203.0.113.7")
		if w.Code != want || w.Header().Get("X-Weir-Status") != "503" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", query, w.Code, w.Header())
		}
	}
}

func TestUntrustedPeerMayNotAsk(t *testing.T) {
	s := &seen{}
	var why []identity.Rejection
	h := handler(t, s, identity.Options{Rejected: func(w identity.What, r identity.Reason) { why = append(why, identity.Rejection{What: w, Reason: r}) }})
	for _, peer := range []string{"192.0.2.1:80", "@", ""} {
		w := askFrom(h, peer, "", "X-Forwarded-For", "127.0.0.1")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"untrusted_peer"`) || !strings.Contains(w.Body.String(), "trusted_peers") {
			t.Errorf("%s: %d %s", peer, w.Code, w.Body)
		}
	}
	if s.asked > 0 || len(why) != 3 || why[0] != (identity.Rejection{What: identity.Peer, Reason: identity.Untrusted}) {
		t.Errorf("asked %d times, rejected %v", s.asked, why)
	}
}

func TestQuery(t *testing.T) {
	s := &seen{}
	h := handler(t, s, identity.Options{})
	if w := ask(h, ""); w.Code != http.StatusOK || s.req.Domain != "default" || s.req.Policy != "" || s.req.Descriptors[0].HasCost {
		t.Errorf("%d %+v", w.Code, s.req)
	}
	ask(h, "?domain=api&policy=p%2F1&cost=7")
	if d := s.req.Descriptors[0]; s.req.Domain != "api" || s.req.Policy != "p/1" || d.Cost != 7 || !d.HasCost {
		t.Errorf("%+v", s.req)
	}
	ask(h, "?cost=0")
	if d := s.req.Descriptors[0]; d.Cost != 0 || !d.HasCost {
		t.Errorf("%+v", s.req)
	}
	before := s.asked
	for _, q := range []string{
		"?x=1", "?domain=", "?domain=a&domain=b", "?domain=" + strings.Repeat("x", 257), "?policy=", "?cost=-1", "?cost=x", "?cost=",
		"?deny=200", "?deny=404", "?deny=", "?deny=+403", "?tenant=acme", "?%zz", "?a;b",
	} {
		if w := ask(h, q); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"invalid"`) || !strings.Contains(w.Body.String(), `"hint":"`) {
			t.Errorf("%s: %d %s", q, w.Code, w.Body)
		}
	}
	if s.asked != before {
		t.Error("a wrong question was asked")
	}
	if w := ask(handler(t, realEngine(t, memstore.New()), identity.Options{}), "?policy=nosuch"); w.Code != http.StatusNotFound {
		t.Errorf("no such policy: %d", w.Code)
	}
	e, err := engine.New(engine.Options{Store: memstore.New()})
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(handler(t, e, identity.Options{}), ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("no policies: %d", w.Code)
	}
}

func TestOriginalRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header []string
		want   string // after the ip; "400" for a refusal
	}{
		{"Caddy, Traefik", []string{"X-Forwarded-Method", "POST", "X-Forwarded-Uri", "/v1/x?y=1", "X-Forwarded-Host", "API.example.org:8443"}, "method=POST path=/v1/x host=api.example.org"},
		{"nginx", []string{"X-Original-Method", "PUT", "X-Original-URI", "/v1/x"}, "method=PUT path=/v1/x"},
		{"both agree", []string{"X-Forwarded-Uri", "/v1/x?a", "X-Original-URI", "/v1/x?b"}, "path=/v1/x"},
		{"both disagree", []string{"X-Forwarded-Uri", "/free", "X-Original-URI", "/v1/x"}, "400"},
		{"methods disagree", []string{"X-Forwarded-Method", "GET", "X-Original-Method", "POST"}, "400"},
		{"a path twice", []string{"X-Forwarded-Uri", "/a", "X-Forwarded-Uri", "/a"}, "400"},
		{"a host twice", []string{"X-Forwarded-Host", "a", "X-Forwarded-Host", "b"}, "400"},
		{"no path", nil, ""},
		{"an empty one", []string{"X-Forwarded-Uri", ""}, ""},
		{"a relative path", []string{"X-Forwarded-Uri", "v1/x"}, "400"},
		{"an absolute target", []string{"X-Forwarded-Uri", "https://h/v1/x?y"}, "path=/v1/x"},
		{"a long path", []string{"X-Forwarded-Uri", "/" + strings.Repeat("a", 4095)}, "path=/" + strings.Repeat("a", 4095)},
		{"a longer path", []string{"X-Forwarded-Uri", "/" + strings.Repeat("a", 4096)}, "400"},
		{"a long query", []string{"X-Forwarded-Uri", "/a?" + strings.Repeat("a", 9000)}, "path=/a"},
		{"a method in other letters", []string{"X-Forwarded-Method", "pOst"}, "method=POST"},
		{"both in other letters", []string{"X-Forwarded-Method", "post", "X-Original-Method", "POST"}, "method=POST"},
		{"a strange method", []string{"X-Forwarded-Method", "GET /"}, "400"},
		{"a long method", []string{"X-Forwarded-Method", strings.Repeat("A", 33)}, "400"},
		{"a strange host", []string{"X-Forwarded-Host", "a, b"}, "400"},
		{"an IPv6 host", []string{"X-Forwarded-Host", "[2001:db8::1]:443"}, "host=[2001:db8::1]"},
		{"a host with a dot", []string{"X-Forwarded-Host", "a.example."}, "host=a.example"},
		{"what a client may want to be", []string{"X-Tenant", "a", "Tenant", "a", "Ip", "a", "X-Real-Ip", "6.6.6.6", "Plan", "a", "X-Request-Id", "1"}, ""},
	} {
		s := &seen{}
		w := ask(handler(t, s, identity.Options{}), "", append(tc.header, "X-Forwarded-For", "203.0.113.7")...)
		if tc.want == "400" {
			if w.Code != http.StatusBadRequest || s.asked > 0 || !strings.Contains(w.Body.String(), `"hint":"`) || strings.Contains(w.Body.String(), `"hint":""`) {
				t.Errorf("%s: %d, asked %s", tc.name, w.Code, s.pairs)
			}
			continue
		}
		if want := strings.TrimSpace("ip=203.0.113.7 " + tc.want); w.Code != http.StatusOK || s.pairs != want || s.req.ID != "" {
			t.Errorf("%s: %d, asked %s, id %q", tc.name, w.Code, s.pairs, s.req.ID)
		}
	}
}

func TestConfiguredHeaders(t *testing.T) {
	s := &seen{}
	h := handler(t, s, identity.Options{}, forwardauth.Headers{Method: []string{"X-M"}, Path: []string{"X-P"}, RequestID: "X-Request-Id"})
	ask(h, "", "X-M", "GET", "X-P", "/a", "X-Forwarded-Uri", "/b", "X-Forwarded-Host", "h", "X-Request-Id", "7", "X-Forwarded-For", "203.0.113.7")
	if s.pairs != "ip=203.0.113.7 method=GET path=/a" || s.req.ID != "7" {
		t.Errorf("%s %q", s.pairs, s.req.ID)
	}
	if w := ask(h, "", "X-Request-Id", strings.Repeat("x", 257)); w.Code != http.StatusBadRequest {
		t.Errorf("a long id: %d", w.Code)
	}
	if ask(h, "", "X-P", "/a"); s.req.ID != "" {
		t.Errorf("the id of another question: %q", s.req.ID)
	}
}

// TestSpellings: no spelling of a path escapes its limit.
func TestSpellings(t *testing.T) {
	h := handler(t, realEngine(t, memstore.New()), identity.Options{})
	for i, uri := range []string{
		"/login", "/login?x=1", "/%6cogin", "//login", "/./login", "/%2Flogin", "/.%2flogin", "/\\login",
		"/a/../login", "/a%2F..%2Flogin", "/login/x%2F..%2F..%2Fa", "/..;/login",
	} {
		w := ask(h, "?policy=login", "X-Forwarded-For", "203.0.113.7", "X-Forwarded-Method", "POST", "X-Forwarded-Uri", uri)
		want := http.StatusTooManyRequests
		switch {
		case i == 0:
			want = http.StatusOK
		case strings.Contains(uri, ".."):
			want = http.StatusBadRequest // and that is said
			if !strings.Contains(w.Body.String(), "no .. segment") {
				t.Errorf("%s: %s", uri, w.Body)
			}
		}
		if w.Code != want {
			t.Errorf("%s: %d, want %d", uri, w.Code, want)
		}
	}
}

func TestRequiredCredential(t *testing.T) {
	s := &seen{}
	keys, err := identity.NewKeys(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := handler(t, s, identity.Options{Keys: keys, KeyRequired: true})
	for want, header := range map[string][]string{
		`"reason":"missing","message":"an API key is required and was not sent","hint":"send a valid API key"`: nil,
		`"reason":"unknown_key","message":"the API key is not known","hint":"send a valid API key"`:            {"X-Api-Key", "canary"},
	} {
		w := ask(h, "?deny=403", header...)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s, want %s", w.Body, want)
		}
		if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "ApiKey" || !strings.Contains(w.Body.String(), `"unauthenticated"`) {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		if strings.Contains(w.Body.String(), "canary") || s.asked > 0 {
			t.Errorf("%s", w.Body)
		}
	}
}

// nobody believes no token.
type nobody struct{}

func (nobody) Verify(string) (*identity.Subject, identity.Reason) { return nil, identity.Expired }

func TestRequiredToken(t *testing.T) {
	h := handler(t, &seen{}, identity.Options{Tokens: nobody{}, TokenRequired: true})
	for auth, want := range map[string]string{"": "Bearer", "Bearer x": `Bearer error="invalid_token"`} {
		w := ask(h, "", "Authorization", auth)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != want {
			t.Errorf("%q: %d %q", auth, w.Code, got)
		}
	}
}

// because believes no token, for a reason.
type because identity.Reason

func (r because) Verify(string) (*identity.Subject, identity.Reason) { return nil, identity.Reason(r) }

// TestEveryReasonIsASentence, with its name beside it.
func TestEveryReasonIsASentence(t *testing.T) {
	said := map[string]bool{}
	for r := identity.Missing; r < identity.Reasons; r++ {
		if r == identity.TooFew || r == identity.Obfuscated {
			continue // of addresses
		}
		w := ask(handler(t, &seen{}, identity.Options{Tokens: because(r), TokenRequired: true}), "", "Authorization", "Bearer x")
		var body struct{ Error httperr.Problem }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		e := body.Error
		if e.Reason != r.String() || e.Field != "jwt" || e.Hint == "" || said[e.Message] || !strings.Contains(e.Message, " token ") ||
			strings.Contains(e.Message, "_") || e.Message == "the token is not accepted" {
			t.Errorf("%s: %+v", r, e)
		}
		said[e.Message] = true
	}
}

// TestTwoCredentials: two are refused where none is required, and nothing is
// asked.
func TestTwoCredentials(t *testing.T) {
	keys, err := identity.NewKeys(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{}
	h := handler(t, s, identity.Options{Tokens: nobody{}, Keys: keys, TenantHeader: "X-Weir-Tenant"})
	for name, want := range map[string]struct {
		code int
		auth string
		hint string
	}{
		"Authorization": {401, `Bearer error="invalid_token"`, "in one line"},
		"X-Api-Key":     {401, "ApiKey", "in one line"},
		"X-Weir-Tenant": {400, "", "let the gateway replace"},
	} {
		w := ask(h, "?deny=403", name, "canary", name, "")
		if w.Code != want.code || w.Header().Get("WWW-Authenticate") != want.auth || !strings.Contains(w.Body.String(), want.hint) {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
		if strings.Contains(w.Body.String(), "canary") || s.asked > 0 {
			t.Errorf("%s: asked %d times: %s", name, s.asked, w.Body)
		}
	}
}

// body fails the test when it is read.
type body struct{ t *testing.T }

func (b body) Read([]byte) (int, error) {
	b.t.Error("the body is read")
	return 0, io.EOF
}

func TestAnyMethodAndNoBody(t *testing.T) {
	h := handler(t, &seen{}, identity.Options{})
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PROPFIND"} {
		r := httptest.NewRequest(method, "/v1/auth", body{t})
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// FuzzAuth: whatever a gateway passes on, the answer is a decision or a refusal.
func FuzzAuth(f *testing.F) {
	f.Add("domain=api&deny=403", "203.0.113.7", "GET", "/a?b", "h:80", "Bearer x.y.z")
	f.Add("cost=0", "[2001:db8::1]:80", "", "http://h/%2e%2e/", "[::1]:1", "Basic x")
	h := handler(f, realEngine(f, memstore.New()), identity.Options{})
	f.Fuzz(func(t *testing.T, query, xff, method, uri, host, auth string) {
		r := &http.Request{Method: http.MethodGet, RemoteAddr: "127.0.0.1:1", URL: &url.URL{Path: "/v1/auth", RawQuery: query}, Header: http.Header{
			"X-Forwarded-For": {xff}, "X-Forwarded-Method": {method}, "X-Forwarded-Uri": {uri}, "X-Forwarded-Host": {host}, "Authorization": {auth},
		}}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code >= 500 && w.Header().Get("X-Weir-Status") == "" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func BenchmarkAuth(b *testing.B) {
	h := handler(b, &seen{}, identity.Options{})
	r := httptest.NewRequest(http.MethodGet, "/v1/auth?deny=403", nil)
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header = http.Header{"X-Forwarded-For": {"203.0.113.7"}, "X-Forwarded-Uri": {"/v1/orders"}, "X-Forwarded-Method": {"GET"}}
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
