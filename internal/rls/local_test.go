package rls_test

import (
	"context"
	"testing"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/redisstore"
)

const threeLimits = `
domain: test
descriptors:
  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 2}}
  - {key: ip, rate_limit: {unit: hour, requests_per_unit: 10}}
  - {key: path, rate_limit: {unit: day, requests_per_unit: 50}}
  - {key: free, rate_limit: {unlimited: true}}
`

// TestCachedDenialIsComplete: a denial that Redis was not asked for has a status
// per descriptor, as if it had been.
func TestCachedDenialIsComplete(t *testing.T) {
	srv := redistest.Start(t)
	for name, compat := range map[string]bool{"default": false, "compat": true} {
		for _, by := range lanes {
			t.Run(string(by)+"/"+name, func(t *testing.T) { testCachedDenial(t, srv, by, compat) })
		}
	}
}

func testCachedDenial(t *testing.T, srv *redistest.Server, by lane, compat bool) {
	srv.MustDo("FLUSHALL")
	store, err := redisstore.New(context.Background(), redisstore.Options{Addrs: []string{srv.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	sources := make(chan weir.Source, 100)
	s := withTier(t, by, store, compat, threeLimits, sources)
	all := func() *pb.RateLimitResponse {
		return s.ask(1, d("tenant", "a"), d("ip", "192.0.2.1"), d("path", "/"), d("free", "x"), d("nosuch", "x"))
	}
	s.ask(3, d("ip", "192.0.2.1"))
	all()
	all()
	for range 3 {
		<-sources
	}
	fresh, cached := denials(t, all, sources, compat)
	if compat { // counters that are not used up have to count the request
		return
	}
	sameStatuses(t, cached, fresh)
	if cached.GetOverallCode() != over || cached.GetStatuses()[0].GetCode() != over || cached.GetStatuses()[1].GetLimitRemaining() != 5 {
		t.Errorf("%v", cached)
	}
}

// denials asks until an answer comes from the cache, and returns it with the
// store's before. What is charged across slots is denied from here for 50 ms
// only: a machine that is busy needs some attempts.
func denials(
	t *testing.T, all func() *pb.RateLimitResponse, sources chan weir.Source, never bool,
) (fresh, cached *pb.RateLimitResponse) {
	t.Helper()
	fresh = all()
	if source := <-sources; source != weir.SourceStore {
		t.Fatalf("the first denial is from %s", source)
	}
	for range 20 {
		cached = all()
		if <-sources == weir.SourceDenyCache {
			if never {
				t.Fatal("answered without the store")
			}
			return fresh, cached
		}
		fresh = cached
	}
	if !never {
		t.Fatal("never answered without the store")
	}
	return fresh, cached
}

func withTier(t *testing.T, by lane, store weir.Store, compat bool, text string, sources chan weir.Source) *service {
	t.Helper()
	e, err := engine.New(engine.Options{
		Store: store, Deadline: 5 * time.Second, Local: local.New(local.Options{Denials: 100}),
		Hooks: weir.Hooks{Decided: func(_ *weir.Request, d *weir.Decision, _ time.Duration) { sources <- d.Source }},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compiled(t, text, compat))
	return connect(t, by, e, rls.Options{Compat: compat})
}

// sameStatuses holds an answer against the store's of a moment before.
func sameStatuses(t *testing.T, got, want *pb.RateLimitResponse) {
	t.Helper()
	for i, w := range want.GetStatuses() {
		g := got.GetStatuses()[i]
		if g.GetCode() != w.GetCode() || g.GetLimitRemaining() != w.GetLimitRemaining() ||
			g.GetCurrentLimit().String() != w.GetCurrentLimit().String() {
			t.Errorf("status %d is %v, the store's was %v", i, g, w)
		}
		after := w.GetDurationUntilReset().AsDuration() - g.GetDurationUntilReset().AsDuration()
		if after < -5*time.Second || after > 5*time.Second || (g.GetDurationUntilReset().AsDuration() == 0) != (w.GetDurationUntilReset().AsDuration() == 0) {
			t.Errorf("status %d: reset in %v, the store said %v", i, g.GetDurationUntilReset(), w.GetDurationUntilReset())
		}
	}
}
