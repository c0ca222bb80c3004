package local

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
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// leased is an engine with leases on a store.
type leased struct {
	t      testing.TB
	engine *engine.Engine
	tier   *Tier
	store  weir.Store
	asked  atomic.Int64 // requests that the store answered, leases included
}

// newLeased is one on a Redis of its own or, with hooks, on memory.
func newLeased(t testing.TB, text string, hooks weir.Hooks) *leased {
	t.Helper()
	l := &leased{t: t}
	if hooks.Decided != nil {
		l.store = memstore.New()
	} else {
		l.store = openRedis(t, redistest.Start(t), func(c weir.StoreCall) { l.asked.Add(int64(c.Entries)) })
	}
	t.Cleanup(func() { _ = l.store.Close() })
	l.open(text, hooks, nil)
	return l
}

func openRedis(t testing.TB, srv *redistest.Server, told func(weir.StoreCall)) weir.Store {
	t.Helper()
	store, err := redisstore.New(context.Background(), redisstore.Options{
		Addrs: []string{srv.Addr()}, Deadline: 10 * time.Second, ConnTimeout: 10 * time.Second,
		Hooks: weir.Hooks{StoreCall: told},
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func (l *leased) open(text string, hooks weir.Hooks, instances func() int) {
	l.t.Helper()
	l.tier = New(Options{Denials: 1024, Leases: LeaseOptions{Store: l.store, Instances: instances}})
	l.engine = enginetest.New(l.t, text, engine.Options{Store: l.store, Local: l.tier, Hooks: hooks})
}

func tenant() *weir.Request {
	return &weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{
		{Pairs: []weir.Pair{{Name: "tenant", Value: "whale"}}},
	}}
}

func (l *leased) check(d *weir.Decision) {
	if err := l.engine.Check(context.Background(), tenant(), d); err != nil {
		l.t.Error(err)
	}
}

// heatUp asks until there is a lease that the next request is paid from.
func (l *leased) heatUp() {
	l.t.Helper()
	var d weir.Decision
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		if l.check(&d); d.Source == weir.SourceLease {
			return
		}
	}
	st, _ := l.tier.LeaseStats()
	l.t.Fatalf("never leased: %+v", st)
}

// Two windows and 64 callers: the store hears of few, and has charged for all.
func TestHotKeyOnRedis(t *testing.T) {
	l := newLeased(t, `
policies:
  - {id: whales, by: [tenant], limits: ["1000000/s burst 1000000", {count: 10000000, window: 1h, algorithm: fixed_window}], lease: auto, on_failure: open}
`, weir.Hooks{})
	const callers, each = 64, 1500
	var here, there atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			var d weir.Decision
			for range each {
				l.check(&d)
				switch {
				case !d.Allowed() || len(d.Charges) != 2 || d.Remaining <= 0:
					t.Errorf("not as it should be: %+v", d)
				case d.Source == weir.SourceLease:
					here.Add(1)
				default:
					there.Add(1)
				}
			}
		})
	}
	wg.Wait()
	st, _ := l.tier.LeaseStats()
	t.Logf("%d of %d decided here, the store was asked for %d; %+v", here.Load(), callers*each, l.asked.Load(), st)
	if here.Load() < callers*each/2 || l.asked.Load() > callers*each/2 {
		t.Errorf("%d of %d decided here, the store was asked for %d", here.Load(), callers*each, l.asked.Load())
	}
	if st.Spent != 2*here.Load() {
		t.Errorf("%d decided here: %+v", here.Load(), st)
	}
	waitFor(t, "leases under way", func() bool { return len(l.tier.leases.(*leaser).wishes) == maxWishes })
	st, _ = l.tier.LeaseStats()
	usage, _, err := l.engine.Usage(t.Context(), tenant())
	if err != nil {
		t.Fatal(err)
	}
	// The hour's count frees nothing, unless the hour has just ended. A lease that
	// was answered too late, on a machine that has other work, was charged too.
	hour := usage[1].Outcome.Before.Used
	if want := there.Load() + st.Taken/2; (hour < want || hour > want && st.Failed == 0) && usage[1].Outcome.ResetAfter < 3590*weir.Second {
		t.Errorf("the hour has %d, want %d", hour, want)
	}
	top := l.tier.HotKeys(10)
	if len(top) != 2 || !top[0].Hot || top[0].Rate < 50 {
		t.Errorf("hot keys: %+v", top)
	}
}

// Three nodes use up one limit, each with its leases: not a unit more than there
// is, and what is missing was lost with the last leases.
func TestNodesShareALimitOnRedis(t *testing.T) {
	const units, nodes = 20_000, 3
	text := fmt.Sprintf("policies:\n  - {id: whales, by: [tenant], limits: [{count: %d, window: 365d, algorithm: gcra}], lease: auto, on_failure: open}\n", units)
	srv := redistest.Start(t)
	var admitted, here atomic.Int64
	var wg sync.WaitGroup
	all := make([]*leased, nodes)
	for i := range all {
		l := &leased{t: t, store: openRedis(t, srv, nil)}
		defer func() { _ = l.store.Close() }()
		l.open(text, weir.Hooks{}, func() int { return nodes })
		all[i] = l
		for range 4 {
			wg.Go(func() {
				var d weir.Decision
				for l.check(&d); d.Allowed(); l.check(&d) {
					admitted.Add(1)
					if d.Source == weir.SourceLease {
						here.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	lost, failed := int64(0), int64(0)
	for _, l := range all {
		waitFor(t, "the end of the leases", func() bool {
			st, _ := l.tier.LeaseStats()
			return st.Held == 0 && len(l.tier.leases.(*leaser).wishes) == maxWishes
		})
		st, _ := l.tier.LeaseStats()
		lost, failed = lost+st.Lost, failed+st.Failed
		if st.Taken != st.Spent+st.Lost {
			t.Errorf("%+v", st)
		}
	}
	if n := admitted.Load(); n > units || failed == 0 && n+lost != units || lost > units/4 || here.Load() < units/4 {
		t.Errorf("%d admitted, %d of them here, %d lost of %d; %d leases failed", n, here.Load(), lost, units, failed)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

const oneLimit = "policies:\n  - {id: whales, by: [tenant], limits: [1000000/m], lease: auto, on_failure: open}\n"

// What is held is gone in half a second, and with its policies.
func TestLeaseEndsOnRedis(t *testing.T) {
	l := newLeased(t, oneLimit, weir.Hooks{})
	l.heatUp()
	waitFor(t, "the end of the lease", func() bool { st, _ := l.tier.LeaseStats(); return st.Held == 0 })
	var d weir.Decision
	if l.check(&d); d.Source != weir.SourceStore {
		t.Errorf("after its end: %+v", d)
	}
	st, _ := l.tier.LeaseStats()
	if st.Lost == 0 || st.Taken != st.Spent+st.Lost+st.Held {
		t.Errorf("%+v", st)
	}
	l.heatUp()
	l.engine.Swap(l.engine.Set())
	if l.check(&d); d.Source != weir.SourceStore {
		t.Errorf("under new policies: %+v", d)
	}
}

// A holder that was stopped past the end of its lease spends nothing of it.
func TestStoppedHolder(t *testing.T) {
	l := newLeased(t, oneLimit, weir.Hooks{})
	l.heatUp()
	leases := l.tier.leases.(*leaser)
	held := func() (key string, until weir.Micros) {
		leases.table.Each(func(_ keytable.ID, h *holding) bool {
			key, until = h.key, max(h.cur.until, h.next.until)
			return false
		})
		return key, until
	}
	key, until := held()
	if key == "" || until <= 0 || until > leases.now()+500*weir.Millisecond {
		t.Fatalf("%q is held until %v, now %v", key, until, leases.now())
	}
	// As if stopped: nothing looks at the lease meanwhile. What was asked for before
	// may still come, and lasts longer.
	for ; until > leases.now(); _, until = held() {
		time.Sleep((until - leases.now()).Duration())
	}
	var d weir.Decision
	if l.check(&d); d.Source != weir.SourceStore {
		t.Errorf("spent after its end: %+v", d)
	}
}

// BenchmarkCheckLeased is a decision that is paid from a lease, all of it.
func BenchmarkCheckLeased(b *testing.B) {
	text := "policies:\n  - {id: whales, by: [tenant], limits: [10000000/s burst 10000000], lease: auto, on_failure: open}\n"
	run := func(b *testing.B, hooks weir.Hooks, metrics *obs.Metrics) {
		l := newLeased(b, text, hooks)
		if metrics != nil {
			metrics.SetLoaded(1, "v", []obs.RuleInfo{{Domain: "default", ID: "whales"}})
		}
		for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
			l.heatUp()
		}
		r, d, ctx := tenant(), weir.Decision{}, context.Background()
		here := 0
		b.ReportAllocs()
		for b.Loop() {
			if err := l.engine.Check(ctx, r, &d); err != nil {
				b.Fatal(err)
			}
			if d.Source == weir.SourceLease {
				here++
			}
		}
		b.ReportMetric(float64(here)/float64(b.N)*100, "%leased")
	}
	b.Run("plain", func(b *testing.B) {
		run(b, weir.Hooks{Decided: func(*weir.Request, *weir.Decision, time.Duration) {}}, nil)
	})
	b.Run("metrics", func(b *testing.B) {
		m := obs.New(obs.Options{})
		run(b, m.Hooks(), m)
	})
}

// BenchmarkHotKeyOnRedis is one key and 64 callers, on a real Redis.
func BenchmarkHotKeyOnRedis(b *testing.B) {
	text := "policies:\n  - {id: whales, by: [tenant], limits: [10000000/s burst 10000000], lease: %s, on_failure: open}\n"
	for _, mode := range []string{"off", "auto"} {
		b.Run("lease="+mode, func(b *testing.B) {
			l := newLeased(b, fmt.Sprintf(text, mode), weir.Hooks{})
			const callers = 64
			run := func(n int) {
				var wg sync.WaitGroup
				for i := range callers {
					wg.Go(func() {
						var d weir.Decision
						r := tenant()
						for j := i; j < n; j += callers {
							if err := l.engine.Check(context.Background(), r, &d); err != nil || !d.Allowed() {
								b.Error(err, d)
								return
							}
						}
					})
				}
				wg.Wait()
			}
			run(50_000) // until the rate is known
			asked := l.asked.Load()
			b.ResetTimer()
			run(b.N)
			b.ReportMetric(float64(l.asked.Load()-asked)/float64(b.N), "entries/op")
		})
	}
}
