package local_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/policy"
	"github.com/weirlimit/weir/redisstore"
)

var _ engine.Local = (*local.Tier)(nil)

// shared is a Redis that is counted, with engines that have a tier each.
type shared struct {
	t     testing.TB
	store weir.Store
	calls atomic.Int64
}

func newShared(t testing.TB) *shared {
	t.Helper()
	s := &shared{t: t}
	srv := redistest.Start(t)
	store, err := redisstore.New(context.Background(), redisstore.Options{
		Addrs: []string{srv.Addr()}, Deadline: 10 * time.Second, ConnTimeout: 10 * time.Second,
		Hooks: weir.Hooks{StoreCall: func(weir.StoreCall) { s.calls.Add(1) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s.store = store
	return s
}

// node is an engine with a tier of its own.
func (s *shared) node(text string) *engine.Engine {
	return enginetest.New(s.t, text, engine.Options{
		Store: s.store, Local: local.New(local.Options{Denials: local.DefaultDenials}),
	})
}

func compile(t testing.TB, text string) *policy.Set {
	t.Helper()
	f, problems := policy.ParseNative("test.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatal(problems)
	}
	set, problems := policy.Compile([]*policy.File{{Name: "test.yaml", Native: f}}, policy.Options{})
	if policy.HasErrors(problems) {
		t.Fatal(problems)
	}
	return set
}

func ask(pairs ...string) *weir.Request {
	d := weir.Descriptor{}
	for i := 0; i < len(pairs); i += 2 {
		d.Pairs = append(d.Pairs, weir.Pair{Name: pairs[i], Value: pairs[i+1]})
	}
	return &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{d}, Cost: 1}
}

func check(t testing.TB, e *engine.Engine, r *weir.Request) *weir.Decision {
	t.Helper()
	d := &weir.Decision{}
	if err := e.Check(context.Background(), r, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func perHour(n int) string {
	return fmt.Sprintf("policies:\n  - {id: tenants, by: [tenant], limits: [%d/h], on_failure: closed}\n", n)
}

// A flood of one used-up counter costs about a call a second, however many ask
// at once.
func TestFloodCostsACallASecond(t *testing.T) {
	s := newShared(t)
	e := s.node(perHour(3))
	for i := range 4 {
		if d := check(t, e, ask("tenant", "a")); d.Allowed() != (i < 3) || d.Source != weir.SourceStore {
			t.Fatalf("request %d: %+v", i, d)
		}
	}
	began, before := time.Now(), s.calls.Load()
	const lasts = 2500 * time.Millisecond
	var wg sync.WaitGroup
	var asked, elsewhere atomic.Int64
	for range 64 {
		wg.Go(func() {
			r, d := ask("tenant", "a"), weir.Decision{}
			for time.Since(began) < lasts {
				if err := e.Check(context.Background(), r, &d); err != nil || d.Allowed() || d.RetryAfter <= 0 {
					t.Errorf("%v, %+v", err, d)
					return
				}
				asked.Add(1)
				if d.Source != weir.SourceDenyCache {
					elsewhere.Add(1)
				}
			}
		})
	}
	wg.Wait()
	seconds := time.Since(began).Seconds()
	calls := s.calls.Load() - before
	t.Logf("%.0f denials a second; %d calls of Redis in %.1f s, for %d of %d", float64(asked.Load())/seconds, calls, seconds, elsewhere.Load(), asked.Load())
	// At the end of a second those that come until the answer is there go in one
	// call or two.
	if float64(calls) > 4*seconds || calls < int64(seconds) || asked.Load() < 2000 {
		t.Errorf("%d calls in %.1f s for %d denials", calls, seconds, asked.Load())
	}
}

// A limit that is raised counts at once, a reset by this node too, and one by
// another node within a second.
func TestChangesAreSeen(t *testing.T) {
	s := newShared(t)
	e, other := s.node(perHour(1)), s.node(perHour(1))
	denied := func(e *engine.Engine, source weir.Source) {
		t.Helper()
		if d := check(t, e, ask("tenant", "a")); d.Allowed() || d.Source != source || d.Limit.Count == 0 {
			t.Fatalf("want a denial from %s: %+v", source, d)
		}
	}
	allowed := func(e *engine.Engine) {
		t.Helper()
		if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Source != weir.SourceStore {
			t.Fatalf("%+v", d)
		}
	}
	allowed(e)
	denied(e, weir.SourceStore)
	denied(e, weir.SourceDenyCache)
	e.Swap(compile(t, perHour(2)))
	allowed(e)
	denied(e, weir.SourceStore)
	denied(e, weir.SourceDenyCache)
	if _, _, err := e.Reset(context.Background(), ask("tenant", "a")); err != nil {
		t.Fatal(err)
	}
	allowed(e)
	allowed(e)
	denied(other, weir.SourceStore)
	denied(other, weir.SourceDenyCache)
	refund := ask("tenant", "a")
	refund.Descriptors[0].Refund = true
	check(t, e, refund)
	allowed(e) // a refund of its own is seen at once
	check(t, e, refund)
	check(t, e, refund)
	began := time.Now()
	for !check(t, other, ask("tenant", "a")).Allowed() {
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("another node's refund is not seen after %v", took)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Many at once, on counters that run empty and are refunded and reset: for the
// race detector, and that no unit too many is admitted.
func TestConcurrent(t *testing.T) {
	s := newShared(t)
	e := s.node("policies:\n  - {id: p, by: [tenant], limits: [100/h, 50/m], on_failure: closed}\n")
	var admitted [4]atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			d := weir.Decision{}
			for i := range 400 {
				tenant := (g + i) % len(admitted)
				r := ask("tenant", fmt.Sprint(tenant))
				if err := e.Check(context.Background(), r, &d); err != nil {
					t.Error(err)
				}
				if d.Allowed() {
					admitted[tenant].Add(1)
				}
				if i%100 == 99 {
					if _, _, err := e.Reset(context.Background(), ask("tenant", "unused")); err != nil {
						t.Error(err)
					}
					e.Swap(e.Set())
				}
			}
		})
	}
	wg.Wait()
	for i := range admitted {
		if n := admitted[i].Load(); n != 50 {
			t.Errorf("tenant %d: %d admitted, want 50", i, n)
		}
	}
}
