package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/redisstore"
)

// TestStoreAway: while Redis is away a process lets through its part of what
// was left, and no more.
func TestStoreAway(t *testing.T) {
	redis := redistest.Start(t)
	store, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{redis.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	l, err := embedded.Parse(`
policies:
  - {id: p, by: [tenant], limits: [20/h], on_failure: open}
`, embedded.WithStore(store), embedded.WithDeadline(10*time.Second), embedded.WithInstances(func() int { return 2 }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for range 4 {
		if d := check(t, l); !d.Allowed() || d.Source != weir.SourceStore {
			t.Fatalf("%+v", d)
		}
	}
	redis.Stop()
	passed := 0
	for range 30 {
		d := checkWithin(t, l, 20*time.Millisecond)
		if d.Source != weir.SourceBackstop {
			t.Fatalf("%+v", d)
		}
		if d.Allowed() {
			passed++
		} else if d.Reason != weir.ReasonExhausted || d.RetryAfter <= 0 || d.RetryAfter > weir.Hour {
			t.Fatalf("denied: %+v", d)
		}
	}
	if passed != 8 { // a half of 16
		t.Errorf("%d passed without the store, want 8", passed)
	}
}

// checkWithin is check for somebody who does not wait.
func checkWithin(t *testing.T, l *embedded.Limits, span time.Duration) (d weir.Decision) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	r := weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
	if err := l.Check(ctx, &r, &d); err != nil {
		t.Fatal(err)
	}
	return d
}
