package httplimit_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// fleet leaves one place of five to what is critical.
const fleet = `
policies:
  - {id: fleet, concurrency: {max: 5, timeout: 5m}, answer: unavailable, on_failure: closed}
  - {id: fleet-rest, match: {priority: [test, read, write]}, concurrency: {max: 4, timeout: 5m}, answer: unavailable, on_failure: closed}
`

// TestFleetReserve: two servers with an engine each share what the fleet can do;
// the rest may use no more than its share, and what is critical all of it.
func TestFleetReserve(t *testing.T) {
	for name, stores := range map[string]func(*testing.T) [2]weir.Store{
		"memory": func(*testing.T) [2]weir.Store { s := memstore.New(); return [2]weir.Store{s, s} },
		"redis": func(t *testing.T) [2]weir.Store {
			addr := redistest.Start(t).Addr()
			return [2]weir.Store{redisAt(t, addr), redisAt(t, addr)}
		},
	} {
		t.Run(name, func(t *testing.T) { fleetReserve(t, stores(t)) })
	}
}

func redisAt(t *testing.T, addr string) weir.Store {
	t.Helper()
	s, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fleetReserve(t *testing.T, stores [2]weir.Store) {
	var servers [2]*service
	var engines [2]*engine.Engine
	for i, store := range stores {
		engines[i] = enginetest.New(t, fleet, engine.Options{Store: store, Deadline: 10 * time.Second})
		servers[i] = protect(t, httplimit.New(engines[i], httplimit.WithPriorities(payments(t)), httplimit.WithConcurrency()))
	}
	var all sync.WaitGroup
	hold := func(i int, method, path string, fields ...string) {
		t.Helper()
		all.Go(func() {
			if a := servers[i].ask(t, method, path, fields...); a.status != http.StatusOK {
				t.Errorf("%s %s at server %d: %d %s", method, path, i, a.status, a.body)
			}
		})
		<-servers[i].inside
	}
	refused := func(i int, method, path, rule string, fields ...string) {
		t.Helper()
		a := servers[i].ask(t, method, path, fields...)
		if retry := a.header.Get("Retry-After"); a.status != http.StatusServiceUnavailable || retry != "1" && retry != "2" ||
			!strings.Contains(a.body, "#temporary-reduced-capacity") || !strings.Contains(a.body, `"violated-policies":["`+rule) {
			t.Errorf("%s %s at server %d: %d, Retry-After %s, %s", method, path, i, a.status, retry, a.body)
		}
	}
	places := func() (n int64) {
		usage, _, err := engines[0].Usage(t.Context(), &weir.Request{Domain: "default", Policy: "fleet", Descriptors: make([]weir.Descriptor, 1)})
		if err != nil || len(usage) != 1 {
			t.Fatalf("usage: %v, %v", usage, err)
		}
		return usage[0].Outcome.Before.Used
	}
	for n := range 4 {
		hold(n%2, http.MethodGet, "/list")
	}
	refused(0, http.MethodGet, "/list", "fleet-rest")
	refused(1, http.MethodPost, "/notes", "fleet-rest")
	refused(1, http.MethodGet, "/list", "fleet-rest", "X-Priority", "critical") // does not promote
	if n := places(); n != 4 {
		t.Errorf("%d places are taken, want 4: what is refused by one takes none of the other", n)
	}
	hold(1, http.MethodPost, "/charges")
	refused(0, http.MethodPost, "/charges", "fleet")
	for _, s := range servers {
		s.letGo()
	}
	all.Wait()
	if n := places(); n != 0 {
		t.Errorf("%d places are taken in the end", n)
	}
	if a := servers[0].ask(t, http.MethodGet, "/list"); a.status != http.StatusOK {
		t.Errorf("afterwards: %d", a.status)
	}
}

// TestConcurrencyPerTenant: a tenant's own requests in progress are fairness, and
// answered with 429; the others do not notice.
func TestConcurrencyPerTenant(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: busy, by: tenant, concurrency: {max: 2, timeout: 5m}, on_failure: open}\n", engine.Options{})
	s := protect(t, httplimit.New(e, tenant, httplimit.WithConcurrency()))
	var all sync.WaitGroup
	hold := func(who string) {
		all.Go(func() {
			if a := s.ask(t, http.MethodGet, "/", "X-Tenant", who); a.status != http.StatusOK {
				t.Errorf("%s: %d", who, a.status)
			}
		})
		<-s.inside
	}
	hold("a")
	hold("a")
	if a := s.ask(t, http.MethodGet, "/", "X-Tenant", "a"); a.status != http.StatusTooManyRequests || !strings.Contains(a.body, "#quota-exceeded") {
		t.Errorf("a third of a: %d %s", a.status, a.body)
	}
	hold("b")
	s.letGo()
	all.Wait()
	if n := used(t, e); n != 0 {
		t.Errorf("%d places of a are taken in the end", n)
	}
	if a := s.ask(t, http.MethodGet, "/", "X-Tenant", "a"); a.status != http.StatusOK {
		t.Errorf("afterwards: %d", a.status)
	}
}

// TestPrioritiesAreDimensions: policies see what a request matters; one that the
// program says itself comes first, and what is exempt is not asked about.
func TestPrioritiesAreDimensions(t *testing.T) {
	e := decider(t, "policies:\n  - {id: p, by: priority, limits: [1/h], on_failure: open}\n")
	h := httplimit.New(e, httplimit.WithPriorities(payments(t)))(ok)
	for _, tt := range []struct {
		path, header string
		want         int
	}{
		{"/a", "", 200},
		{"/a", "critical", 429}, // a read, too
		{"/a", "test", 200},
		{"/a", "test", 429},
		{"/healthz", "", 200},
		{"/healthz", "", 200},
	} {
		if w := get(h, tt.path, "X-Priority", tt.header); w.Code != tt.want {
			t.Errorf("%s as %q: %d, want %d", tt.path, tt.header, w.Code, tt.want)
		}
	}
	own := httplimit.New(e, httplimit.WithPriorities(nil), httplimit.WithDimensions(httplimit.Constant("priority", "write")))(ok)
	for _, want := range []int{200, 429} {
		if w := get(own, "/a"); w.Code != want {
			t.Errorf("%d, want %d", w.Code, want)
		}
	}
}
