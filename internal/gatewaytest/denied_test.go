package gatewaytest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// problem is the body of a denial.
type problem struct {
	Type     string
	Title    string
	Status   int
	Violated []string `json:"violated-policies"`
	Error    struct {
		Code       string
		RetryAfter *int64 `json:"retry_after"`
		Limit      int64
		Scope      string
	}
}

// readProblem checks that an answer is a problem of its own status.
func readProblem(t *testing.T, a Answer) problem {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type: %s", got)
	}
	var p problem
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	if p.Status != a.Status || p.Title == "" {
		t.Errorf("%+v in an answer of %d", p, a.Status)
	}
	return p
}

// checkDenied checks all of a denial by a policy.
func checkDenied(t *testing.T, a Answer, policy string, limit int64, scope string) {
	t.Helper()
	if a.Status != http.StatusTooManyRequests {
		t.Fatalf("%d, want 429: %s", a.Status, a.Body)
	}
	checkFields(t, a, policy)
	if got := a.Header.Get("X-RateLimit-Remaining"); got != "0" {
		t.Errorf("remaining %s, want 0", got)
	}
	retry, err := strconv.ParseInt(a.Header.Get("Retry-After"), 10, 64)
	if err != nil || retry < 1 || retry > 2*3600 {
		t.Errorf("Retry-After: %q", a.Header.Values("Retry-After"))
	}
	p := readProblem(t, a)
	if !strings.HasSuffix(p.Type, "#quota-exceeded") || len(p.Violated) != 1 || p.Violated[0] != policy ||
		p.Error.RetryAfter == nil || *p.Error.RetryAfter != retry || p.Error.Limit != limit || p.Error.Scope != scope {
		t.Errorf("%+v, want a denial by %s of %d per %s", p, policy, limit, scope)
	}
}

func (s *site) testDenied(t *testing.T) {
	const ip = "127.0.0.12"
	c := NewClient(t, ip)
	post := func() Answer { return c.Do(http.MethodPost, s.gateway.Addr(), "/login", strings.NewReader("user=me")) }
	checkAdmitted(t, post())
	s.backend.Take()
	for range 3 {
		checkDenied(t, post(), "logins", perLogin, "ip")
	}
	if seen := s.backend.Take(); len(seen) != 0 {
		t.Errorf("denied requests reached the backend: %+v", seen)
	}
	if got := s.weir.Remaining("per-ip", "ip", ip); got != perIP-1 {
		t.Errorf("%d left, want %d: a denial is charged to nobody", got, perIP-1)
	}
	checkAdmitted(t, NewClient(t, "127.0.0.13").Do(http.MethodPost, s.gateway.Addr(), "/login", nil))
	s.backend.Take()
}

// testNever: a request that can never pass is told no time to come back.
func (s *site) testNever(t *testing.T) {
	a := NewClient(t, "127.0.0.18").Do(http.MethodPost, s.gateway.Addr(), "/never", nil)
	if a.Status != http.StatusTooManyRequests || len(a.Header.Values("Retry-After")) > 0 {
		t.Errorf("%d, Retry-After %q", a.Status, a.Header.Values("Retry-After"))
	}
	checkFields(t, a, "never")
	if p := readProblem(t, a); p.Error.RetryAfter != nil || !slices.Equal(p.Violated, []string{"never"}) {
		t.Errorf("%s", a.Body)
	}
}

// testRoutes: method and path reach Weir, and no other spelling of a path
// dodges its limit.
func (s *site) testRoutes(t *testing.T) {
	c := NewClient(t, "127.0.0.14")
	checkAdmitted(t, c.Do(http.MethodPost, s.gateway.Addr(), "/login?next=/", nil))
	for _, path := range []string{"/login", "/login?x=1", "/%6cogin", "//login", "/x/../login", "/./login"} {
		if a := c.Do(http.MethodPost, s.gateway.Addr(), path, nil); a.Status == http.StatusOK {
			t.Errorf("POST %s passed", path)
		}
	}
	checkAdmitted(t, c.Get(s.gateway.Addr(), "/login"))
	checkAdmitted(t, c.Do(http.MethodPost, s.gateway.Addr(), "/logout", nil))
	s.backend.Take()
}

// testForgedQuery: what a client asks of the backend is no question to Weir.
func (s *site) testForgedQuery(t *testing.T) {
	const ip = "127.0.0.17"
	c := NewClient(t, ip)
	for i, query := range []string{"cost=0", "domain=another", "policy=per-tenant", "deny=401", "domain=another&domain=default"} {
		checkAdmitted(t, c.Get(s.gateway.Addr(), "/?"+query))
		if seen := s.backend.Take(); len(seen) != 1 || seen[0].URI != "/?"+query {
			t.Errorf("the backend saw %+v", seen)
		}
		if got, want := s.weir.Remaining("per-ip", "ip", ip), int64(perIP-i-1); got != want {
			t.Errorf("%d left after ?%s, want %d", got, query, want)
		}
	}
}

// testForgedRoute: a client cannot say that it asks for something else.
func (s *site) testForgedRoute(t *testing.T) {
	const ip = "127.0.0.15"
	a := NewClient(t, ip).Do(
		http.MethodPost, s.gateway.Addr(), "/login", nil,
		"X-Forwarded-Uri", "/free", "X-Forwarded-Method", "GET", "X-Original-Uri", "/free", "X-Original-Method", "GET",
	)
	checkAdmitted(t, a)
	if got := s.weir.Remaining("logins", "ip", ip); got != perLogin-1 {
		t.Errorf("%d logins left: it was charged as something else", got)
	}
	s.backend.Take()
}

// testTogether: many at once get exactly what there is.
func (s *site) testTogether(t *testing.T) {
	c := NewClient(t, "127.0.0.16")
	var admitted, denied atomic.Int64
	var wg sync.WaitGroup
	for range 3 * perIP {
		wg.Go(func() {
			a, err := c.try(http.MethodGet, s.gateway.Addr(), "/", nil)
			switch {
			case err != nil:
				t.Error(err)
			case a.Status == http.StatusOK:
				admitted.Add(1)
			case a.Status == http.StatusTooManyRequests:
				denied.Add(1)
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != perIP || denied.Load() != 2*perIP {
		t.Errorf("%d admitted, %d denied; want %d and %d", admitted.Load(), denied.Load(), perIP, 2*perIP)
	}
	if seen := s.backend.Take(); len(seen) != perIP {
		t.Errorf("%d reached the backend, want %d", len(seen), perIP)
	}
}
