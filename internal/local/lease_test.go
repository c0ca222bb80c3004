package local

import (
	"fmt"
	"sync"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/memstore"
)

// leaseNode is a tier with leases, and a caller of it that does what the engine does.
// Its clock is its own.
type leaseNode struct {
	t     testing.TB
	tier  *Tier
	store weir.Store
	ask   stage.Ask
	batch weir.Batch
	hints []stage.Hint
	calls int // requests that the store was asked
}

func newLeaseNode(t testing.TB, store weir.Store, o LeaseOptions) *leaseNode {
	o.Store, o.countAll = store, true
	return &leaseNode{
		t: t, store: store, tier: New(Options{Leases: o}),
		batch: weir.Batch{Entries: make([]weir.Entry, 1)},
	}
}

// check decides charges, and tells from what.
func (n *leaseNode) check(now weir.Micros, serial uint32, charges ...weir.Charge) (*weir.Entry, weir.Source) {
	e := &n.batch.Entries[0]
	*e = weir.Entry{Charges: charges, Outcomes: e.Outcomes[:0]}
	n.hints = n.hints[:0]
	for i := range charges {
		n.hints = append(n.hints, stage.Hint{ID: keytable.Of(charges[i].Key), Lease: true})
	}
	n.ask = stage.Ask{Now: now, Serial: serial, Entry: e, Hints: n.hints}
	if source, ok := n.tier.Try(&n.ask); ok {
		return e, source
	}
	n.calls++
	n.store.Submit(&n.batch, func(*weir.Batch) {})
	if e.Err != nil {
		n.t.Fatal(e.Err)
	}
	n.tier.Learn(&n.ask)
	return e, weir.SourceStore
}

func (n *leaseNode) stats(now weir.Micros) LeaseStats { return n.tier.leases.(*leaser).stats(now) }

// clock is a store's, and all nodes'.
type clock struct{ now weir.Micros }

func newStore(t testing.TB) (*clock, *memstore.Store) {
	c := &clock{now: 1_000_000 * weir.Second}
	s := memstore.New(memstore.WithClock(func() weir.Micros { return c.now }))
	t.Cleanup(func() { _ = s.Close() })
	return c, s
}

func limit(a weir.Algorithm, count int64, window weir.Micros) *weir.Meter {
	return weir.MustMeter(weir.Limit{Algorithm: a, Count: count, Window: window})
}

func unitsOf(key string, m *weir.Meter, cost int64) weir.Charge {
	return weir.Charge{Key: key, Meter: m, Cost: cost}
}

// heat up asks often enough for a lease, and returns when there is one.
func (n *leaseNode) heatUp(c *clock, charges ...weir.Charge) {
	n.t.Helper()
	for range 1000 {
		c.now += weir.Millisecond
		n.check(c.now, 1, charges...)
		if n.stats(c.now).Held >= 2*charges[0].Cost*int64(len(charges)) {
			return
		}
	}
	n.t.Fatalf("not leased: %+v", n.stats(c.now))
}

func TestLeaseIsSpentHere(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	m := limit(weir.GCRA, 10_000, weir.Second)
	n.heatUp(c, unitsOf("{a}k", m, 1))
	before, calls := n.stats(c.now), n.calls
	used, err := store.Read(t.Context(), "{a}k", m)
	if err != nil {
		t.Fatal(err)
	}
	e, source := n.check(c.now, 1, unitsOf("{a}k", m, 1))
	after := n.stats(c.now)
	if source != weir.SourceLease || !e.Admitted || n.calls != calls || after.Spent != before.Spent+1 || after.Held != before.Held-1 {
		t.Fatalf("%v, %+v, from %+v to %+v", source, e, before, after)
	}
	// What is told is what the store would have said, had it been asked: it has
	// charged for all that is held.
	o := e.Outcomes[0]
	if want := used.Remaining + after.Held; !o.OK || o.Granted != 1 || o.Remaining > want || o.Remaining < want-50 || o.ResetAfter <= 0 {
		t.Errorf("told %+v, want about %d left", o, want)
	}
	if after.Bound == 0 || after.Bound > 500 || after.Share > 0.05 || after.Keys != 1 || after.HotKeys != 1 || after.Rates[0] == 0 || after.Rates[1] != 0 {
		t.Errorf("%+v", after)
	}
	if top := n.tier.leases.(*leaser).hotKeys(5, c.now); len(top) != 1 || top[0].Key != "{a}k" || !top[0].Hot || top[0].Lease < 2 || top[0].Lease > 500 {
		t.Errorf("hot keys: %+v", top)
	}
	later := c.now + coolAfter
	if top := n.tier.leases.(*leaser).hotKeys(5, later); len(top) != 1 || top[0].Lease != 0 {
		t.Errorf("hot keys when none is leased: %+v", top)
	}
}

// Nothing is spent from the instant at which a lease ends.
func TestLeaseEnds(t *testing.T) {
	for _, m := range []*weir.Meter{
		limit(weir.GCRA, 10_000, weir.Second), limit(weir.SlidingWindow, 10_000, weir.Second), limit(weir.FixedWindow, 600_000, weir.Minute),
	} {
		c, store := newStore(t)
		n := newLeaseNode(t, store, LeaseOptions{})
		k := unitsOf("{a}k", m, 1)
		n.heatUp(c, k)
		s := n.tier.leases.(*leaser).table.Lock(keytable.Of("{a}k"))
		h := *s.Find(keytable.Of("{a}k"))
		s.Unlock()
		if life := h.cur.until - c.now; h.next.units != 0 || life <= 0 || life > 500*weir.Millisecond || m.Machine == weir.Runs && life > weir.Second/16 {
			t.Fatalf("%v: lives %v, %+v", m.Limit, life, h)
		}
		if _, source := n.check(h.cur.until-1, 1, k); source != weir.SourceLease {
			t.Errorf("%v: not spent before its end", m.Limit)
		}
		held := n.stats(h.cur.until - 1).Held
		if _, source := n.check(h.cur.until, 1, k); source != weir.SourceStore {
			t.Errorf("%v: spent after its end", m.Limit)
		}
		if st := n.stats(h.cur.until); st.Lost < held || st.Taken != st.Spent+st.Lost+st.Held {
			t.Errorf("%v: %d held, %+v", m.Limit, held, st)
		}
	}
}

// A lease of a fixed window ends before the window does.
func TestLeaseEndsWithItsWindow(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	m := limit(weir.FixedWindow, 100_000, 10*weir.Second)
	end := c.now + 10*weir.Second // the clock starts on the grid
	c.now = end - 700*weir.Millisecond
	k := unitsOf("{a}k", m, 1)
	n.heatUp(c, k)
	last := weir.Micros(0)
	for ; c.now < end; c.now += 500 {
		if _, source := n.check(c.now, 1, k); source == weir.SourceLease {
			last = c.now
		}
	}
	if last < end-50*weir.Millisecond || last > end-weir.Millisecond {
		t.Errorf("last spent %v before the end", end-last)
	}
	if st := n.stats(c.now); st.Lost > st.Taken/50 {
		t.Errorf("lost %d of %d: leases are not made for what is left of the window", st.Lost, st.Taken)
	}
}

// Two windows of one key are debited together, and spent together.
func TestLeaseOfTwoWindows(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	second, hour := limit(weir.GCRA, 10_000, weir.Second), limit(weir.FixedWindow, 1_000_000, weir.Hour)
	both := []weir.Charge{unitsOf("{a}s", second, 1), unitsOf("{a}h", hour, 1)}
	n.heatUp(c, both...)
	admitted := int64(n.calls)
	for range 3000 {
		c.now += 500
		e, _ := n.check(c.now, 1, both...)
		if !e.Admitted {
			t.Fatalf("denied: %+v", e)
		}
		admitted++
	}
	st := n.stats(c.now)
	o, err := store.Read(t.Context(), "{a}h", hour)
	if err != nil {
		t.Fatal(err)
	}
	lent := (st.Held + st.Lost) / 2 // of each window
	if got := o.Before.Used; got != int64(n.calls)+st.Taken/2 || st.Spent%2 != 0 || st.Taken != st.Spent+st.Lost+st.Held {
		t.Errorf("the hour has %d; %d asked, %+v", got, n.calls, st)
	}
	if lent > 1100 || n.calls > 400 || st.Spent/2 < 2500 {
		t.Errorf("%d calls, %+v", n.calls, st)
	}
}

// One charge that lacks leaves the others as they were.
func TestLeaseAllOrNothing(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	m := limit(weir.GCRA, 100_000, weir.Second)
	n.heatUp(c, unitsOf("{a}k", m, 1))
	before := n.stats(c.now)
	if _, source := n.check(c.now, 1, unitsOf("{a}k", m, 1), unitsOf("{a}cold", m, 1)); source != weir.SourceStore {
		t.Errorf("answered from %v", source)
	}
	if after := n.stats(c.now); after.Held != before.Held || after.Spent != before.Spent || after.Lost != before.Lost {
		t.Errorf("from %+v to %+v", before, after)
	}
}

func TestWhatIsNotLeased(t *testing.T) {
	m := limit(weir.GCRA, 10_000, weir.Second)
	for name, k := range map[string]weir.Charge{
		"shadow":       {Key: "{a}k", Meter: m, Cost: 1, Mode: weir.Shadow},
		"always":       {Key: "{a}k", Meter: m, Cost: 1, Mode: weir.Always},
		"a group":      {Key: "{a}k", Meter: m, Cost: 1, Group: 1},
		"a twin":       {Key: "{a}k", Twin: "{a}j", Twinning: weir.TwinNext, Meter: m, Cost: 1},
		"a peek":       {Key: "{a}k", Meter: m, Cost: 0},
		"leaky_bucket": unitsOf("{a}k", limit(weir.LeakyBucket, 10_000, weir.Second), 1),
		"sliding_log":  unitsOf("{a}k", limit(weir.SlidingLog, 1000, weir.Second), 1),
		"too few":      unitsOf("{a}k", limit(weir.GCRA, 19, weir.Second), 1),
		"too costly":   unitsOf("{a}k", m, 501),
	} {
		c, store := newStore(t)
		n := newLeaseNode(t, store, LeaseOptions{})
		for range 1000 {
			c.now += weir.Millisecond
			if _, source := n.check(c.now, 1, k); source != weir.SourceStore {
				t.Fatalf("%s: answered from %v", name, source)
			}
		}
		if st := n.stats(c.now); st.Taken != 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

func TestSeldomAskedIsNotLeased(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	k := unitsOf("{a}k", limit(weir.GCRA, 10_000, weir.Second), 1)
	for range 500 { // 40/s
		c.now += 25 * weir.Millisecond
		n.check(c.now, 1, k)
	}
	if st := n.stats(c.now); st.Taken != 0 {
		t.Errorf("%+v", st)
	}
	for range 1000 { // 100/s
		c.now += 10 * weir.Millisecond
		n.check(c.now, 1, k)
	}
	st := n.stats(c.now)
	if st.Spent < 600 || st.Lost > st.Taken/50 {
		t.Errorf("%+v", st)
	}
	for range 500 { // 20/s: demoted, some 2 s later
		c.now += 50 * weir.Millisecond
		n.check(c.now, 1, k)
	}
	cool := n.stats(c.now)
	if cool.Taken > st.Taken+120 || cool.Full == st.Full || cool.HotKeys != 0 {
		t.Errorf("after %+v: %+v", st, cool)
	}
}

// A new set of policies and another limit end what is held; an older set's
// requests, which may still come, do not.
func TestLeaseEndsWithItsPolicies(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	m, other := limit(weir.GCRA, 10_000, weir.Second), limit(weir.GCRA, 20_000, weir.Second)
	n.heatUp(c, unitsOf("{a}k", m, 1))
	if _, source := n.check(c.now, 0, unitsOf("{a}k", m, 1)); source != weir.SourceStore {
		t.Error("spent under an older set")
	}
	if _, source := n.check(c.now, 1, unitsOf("{a}k", m, 1)); source != weir.SourceLease {
		t.Error("an older set's request ended the lease")
	}
	lost := n.stats(c.now).Lost
	if _, source := n.check(c.now, 2, unitsOf("{a}k", m, 1)); source != weir.SourceStore {
		t.Error("spent under a new set")
	}
	if st := n.stats(c.now); st.Lost <= lost || st.Taken != st.Spent+st.Lost+st.Held {
		t.Errorf("%+v", st)
	}
	n = newLeaseNode(t, store, LeaseOptions{})
	n.heatUp(c, unitsOf("{a}k", m, 1))
	if _, source := n.check(c.now, 1, unitsOf("{a}k", other, 1)); source != weir.SourceStore {
		t.Error("spent under another limit")
	}
}

func TestResetEndsLease(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	k := unitsOf("{a}k", limit(weir.GCRA, 10_000, weir.Second), 1)
	n.heatUp(c, k)
	n.tier.Forget("{a}k")
	if _, source := n.check(c.now, 1, k); source != weir.SourceStore {
		t.Errorf("answered from %v", source)
	}
}

// A key with nothing left is not asked for again and again.
func TestExhaustedKeyRests(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	k := unitsOf("{a}k", limit(weir.FixedWindow, 2000, weir.Hour), 1)
	admitted := 0
	for range 20_000 { // 20 s of 1000/s
		c.now += weir.Millisecond
		if e, _ := n.check(c.now, 1, k); e.Admitted {
			admitted++
		}
	}
	st := n.stats(c.now)
	if admitted+int(st.Lost) != 2000 || st.Lost > 100 || st.Empty > 3 {
		t.Errorf("%d admitted, %+v", admitted, st)
	}
}

// away answers with an error.
type away struct {
	weir.Store
	wishes int
}

func (s *away) Submit(b *weir.Batch, done func(*weir.Batch)) {
	e := &b.Entries[0]
	if e.Charges[0].Mode != weir.UpTo {
		s.Store.Submit(b, done)
		return
	}
	s.wishes++
	e.Err = &weir.Error{Code: weir.CodeTimeout, Message: "away"}
	done(b)
}

func TestErrorsAreNotLeases(t *testing.T) {
	c, inner := newStore(t)
	store := &away{Store: inner}
	n := newLeaseNode(t, store, LeaseOptions{})
	k := unitsOf("{a}k", limit(weir.GCRA, 10_000, weir.Second), 1)
	for range 10_000 {
		c.now += weir.Millisecond
		if _, source := n.check(c.now, 1, k); source != weir.SourceStore {
			t.Fatalf("answered from %v", source)
		}
	}
	if st := n.stats(c.now); st.Taken != 0 || st.Failed != int64(store.wishes) || store.wishes < 3 || store.wishes > 10 {
		t.Errorf("%d wishes in 10 s, %+v", store.wishes, st)
	}
}

// The number of nodes divides what each may hold.
func TestInstancesDivide(t *testing.T) {
	for _, c := range []struct {
		nodes int
		most  int64
	}{{1, 500}, {5, 100}, {500, 1}, {501, 0}} {
		clk, store := newStore(t)
		n := newLeaseNode(t, store, LeaseOptions{Instances: func() int { return c.nodes }})
		k := unitsOf("{a}k", limit(weir.GCRA, 10_000, weir.Second), 1)
		most := int64(0)
		for range 15_000 { // 10,000/s for 1.5 s
			clk.now += 100
			n.check(clk.now, 1, k)
			if clk.now%10_000 == 0 {
				st := n.stats(clk.now)
				most = max(most, st.Held)
				if st.Bound > 500 || st.Share > 0.05 {
					t.Fatalf("%d nodes: %+v", c.nodes, st)
				}
			}
		}
		if most > c.most || most < c.most*8/10-1 {
			t.Errorf("%d nodes: %d held, want up to %d", c.nodes, most, c.most)
		}
	}
}

// Many at once: what was charged is spent, lost or held, to the unit.
func TestLeasesAreExactUnderLoad(t *testing.T) {
	store := memstore.New()
	defer func() { _ = store.Close() }()
	m, hour := limit(weir.GCRA, 100_000, weir.Second), limit(weir.FixedWindow, 10_000_000, weir.Year)
	tier := New(Options{Leases: LeaseOptions{Store: store, countAll: true, Config: lease.Config{Refresh: lease.MinRefresh}}})
	var mu sync.Mutex
	spent, asked := int64(0), int64(0)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			n := &leaseNode{t: t, tier: tier, store: store, batch: weir.Batch{Entries: make([]weir.Entry, 1)}}
			mine := int64(0)
			for i := range 5000 {
				now := weir.Second + weir.Micros(i)*100
				both := []weir.Charge{unitsOf("{a}s", m, 1), unitsOf(fmt.Sprintf("{a}h%d", g%2), hour, 1)}
				if e, source := n.check(now, 1, both...); source == weir.SourceLease {
					mine++
				} else if !e.Admitted {
					t.Errorf("denied: %+v", e)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			spent, asked = spent+mine, asked+int64(n.calls)
		})
	}
	wg.Wait()
	st := tier.leases.(*leaser).stats(weir.Second + 5000*100)
	if st.Spent != 2*spent || st.Taken != st.Spent+st.Lost+st.Held || spent < 10_000 {
		t.Errorf("%d spent, %+v", spent, st)
	}
	used := int64(0)
	for g := range 2 {
		o, err := store.Read(t.Context(), fmt.Sprintf("{a}h%d", g), hour)
		if err != nil {
			t.Fatal(err)
		}
		used += o.Before.Used
	}
	if used != asked+st.Taken/2 {
		t.Errorf("the store has %d, %d asked and %d taken", used, asked, st.Taken/2)
	}
}

func TestSpendDoesNotAllocate(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	k := []weir.Charge{unitsOf("{a}k", limit(weir.GCRA, 10_000_000, weir.Second), 1)}
	n.heatUp(c, k...)
	for range 30_000 {
		c.now += 20
		n.check(c.now, 1, k...)
	}
	calls := n.calls
	if a := testing.AllocsPerRun(2000, func() { c.now += 20; n.check(c.now, 1, k...) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
	if n.calls != calls {
		t.Errorf("%d requests were not paid here", n.calls-calls)
	}
}

func BenchmarkSpend(b *testing.B) {
	c, store := newStore(b)
	n := newLeaseNode(b, store, LeaseOptions{})
	k := []weir.Charge{unitsOf("{a}k", limit(weir.GCRA, 10_000_000, weir.Second), 1)}
	for range 100_000 {
		c.now++
		n.check(c.now, 1, k...)
	}
	calls := n.calls
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i++; i%2 == 0 {
			c.now++
		}
		n.tier.Try(&n.ask)
		n.ask.Now = c.now
	}
	_ = calls
}

// TestImpossibleCosts: who asks for more than there can be does not change what
// others' leases are like.
func TestImpossibleCosts(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	m := limit(weir.GCRA, 10_000, weir.Second)
	n.heatUp(c, unitsOf("k", m, 1))
	for range 2 {
		n.check(c.now, 1, unitsOf("k", m, 1<<62))
	}
	calls, before := n.calls, n.stats(c.now)
	for range 1000 {
		c.now += weir.Millisecond
		n.check(c.now, 1, unitsOf("k", m, 1))
	}
	after := n.stats(c.now)
	if calls, leases, lost := n.calls-calls, after.Full-before.Full, after.Lost-before.Lost; calls > 10 || leases > 40 || lost > 100 {
		t.Errorf("of 1000 requests %d went to the store, with %d leases and %d units lost", calls, leases, lost)
	}
}

// TestLimitsInTurn: a counter that is asked for under one limit and another loses
// nothing to leases of the one that are of no use for the other.
func TestLimitsInTurn(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	limits := []*weir.Meter{limit(weir.GCRA, 1000, weir.Second), limit(weir.GCRA, 2000, weir.Second)}
	admitted := 0
	for i := range 5000 {
		c.now += weir.Millisecond
		if e, _ := n.check(c.now, 1, unitsOf("k", limits[i/5%2], 1)); e.Admitted {
			admitted++
		}
	}
	if st := n.stats(c.now); admitted < 4950 || st.Lost > 100 {
		t.Errorf("%d of 5000 admitted, %+v", admitted, st)
	}
	// With one of them it is leased again.
	n.check(c.now, 1, unitsOf("k", limits[0], 1))
	c.now += coolAfter
	n.heatUp(c, unitsOf("k", limits[0], 1))
}
