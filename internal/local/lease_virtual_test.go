package local

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/memstore"
)

// far is a store whose leases take a while: on the way there, so that the units
// are charged late, or on the way back.
type far struct {
	weir.Store
	clock *clock
	rnd   *rand.Rand
	delay weir.Micros
	late  []lateAnswer
}

type lateAnswer struct {
	at   weir.Micros
	call func()
}

func (s *far) Submit(b *weir.Batch, done func(*weir.Batch)) {
	if b.Entries[0].Charges[0].Mode != weir.UpTo || s.delay == 0 {
		s.Store.Submit(b, done)
		return
	}
	at := s.clock.now + weir.Micros(s.rnd.Int64N(int64(s.delay)))
	if s.rnd.IntN(2) == 0 {
		s.late = append(s.late, lateAnswer{at, func() { s.Store.Submit(b, done) }})
		return
	}
	s.Store.Submit(b, func(*weir.Batch) {})
	s.late = append(s.late, lateAnswer{at, func() { done(b) }})
}

// deliver hands over what is due.
func (s *far) deliver() {
	for i := 0; i < len(s.late); i++ {
		if s.late[i].at <= s.clock.now {
			call := s.late[i].call
			s.late = slices.Delete(s.late, i, i+1)
			i--
			call()
		}
	}
}

// fleet is some nodes on one store, in virtual time.
type fleet struct {
	clock    *clock
	store    *far
	nodes    []*leaseNode
	rnd      *rand.Rand
	meter    *weir.Meter
	admitted []weir.Micros
	asked    int
}

func newFleet(t testing.TB, seed uint64, nodes int, m *weir.Meter, delay weir.Micros) *fleet {
	c := &clock{now: 1_000_000 * weir.Second}
	rnd := rand.New(rand.NewPCG(seed, 7))
	inner := memstore.New(memstore.WithClock(func() weir.Micros { return c.now }))
	w := &fleet{clock: c, rnd: rnd, meter: m, store: &far{Store: inner, clock: c, rnd: rnd, delay: delay}}
	for range nodes {
		w.nodes = append(w.nodes, newLeaseNode(t, w.store, LeaseOptions{Instances: func() int { return nodes }}))
	}
	return w
}

// run asks so many times a second, of nodes that are chosen by chance or in turn.
func (w *fleet) run(span weir.Micros, rate float64, steady bool) {
	began, end := float64(w.clock.now), w.clock.now+span
	for i := 0; ; i++ {
		w.clock.now = weir.Micros(began + float64(i)*float64(weir.Second)/rate)
		if w.clock.now >= end {
			w.clock.now = end
			return
		}
		w.store.deliver()
		n := w.nodes[i%len(w.nodes)]
		if !steady {
			n = w.nodes[w.rnd.IntN(len(w.nodes))]
		}
		w.asked++
		e, source := n.check(w.clock.now, 1, unitsOf("{a}k", w.meter, 1))
		if e.Admitted {
			w.admitted = append(w.admitted, w.clock.now)
		}
		if source == weir.SourceLease && len(w.nodes) == 1 && w.store.delay == 0 {
			w.checkTold(n, &e.Outcomes[0])
		}
	}
}

// checkTold compares what a node that is alone tells with what the store knows:
// it has charged for what is held, and units may have come back since.
func (w *fleet) checkTold(n *leaseNode, o *weir.Outcome) {
	now, err := w.store.Read(context.Background(), "{a}k", w.meter)
	if err != nil {
		n.t.Fatal(err)
	}
	held := int64(0)
	n.tier.leases.(*leaser).table.Each(func(_ keytable.ID, h *holding) bool { held = h.held(w.clock.now); return true })
	back := int64(float64(w.meter.Limit.Count)*float64(500*weir.Millisecond)/float64(w.meter.Limit.Window)) + 1
	if w.meter.Machine != weir.Bucket {
		back = w.meter.Capacity // at once
	}
	if most := min(now.Remaining+held, w.meter.Capacity); o.Remaining > most || o.Remaining < most-back {
		n.t.Fatalf("told that %d remain, of the store's %d and %d held", o.Remaining, now.Remaining, held)
	}
}

func (w *fleet) total() (sum LeaseStats) {
	for _, n := range w.nodes {
		st := n.stats(w.clock.now)
		sum.Taken, sum.Spent, sum.Lost, sum.Held = sum.Taken+st.Taken, sum.Spent+st.Spent, sum.Lost+st.Lost, sum.Held+st.Held
		sum.Bound = max(sum.Bound, st.Bound)
	}
	return sum
}

// most is the largest number of admissions beyond what the rate allows, over
// all stretches of time: what a bucket would have to hold.
func (w *fleet) most() float64 {
	perMicro := float64(w.meter.Limit.Count) / float64(w.meter.Limit.Window)
	least, most := math.Inf(1), 0.0
	for i, at := range w.admitted {
		least = min(least, float64(i)-perMicro*float64(at-w.admitted[0]))
		most = max(most, float64(i+1)-perMicro*float64(at-w.admitted[0])-least)
	}
	return most
}

// rolling is the largest number of admissions within a window.
func (w *fleet) rolling() (most int) {
	first := 0
	for i, at := range w.admitted {
		for w.admitted[first] <= at-w.meter.Limit.Window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// Whatever the demand, delay and number of nodes: what is admitted stays within
// the limit and what all nodes may hold, nothing is spent that was not charged,
// and fixed windows are exact.
func TestLeasesStayWithinTheBound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nodes := rapid.IntRange(1, 5).Draw(r, "nodes")
		count := rapid.Int64Range(100, 500).Draw(r, "count")
		m := limit(rapid.SampledFrom([]weir.Algorithm{weir.GCRA, weir.SlidingWindow, weir.FixedWindow}).Draw(r, "algorithm"), count,
			rapid.SampledFrom([]weir.Micros{weir.Second, 2 * weir.Second}).Draw(r, "window"))
		delay := rapid.SampledFrom([]weir.Micros{0, 2 * weir.Millisecond, 80 * weir.Millisecond, 600 * weir.Millisecond}).Draw(r, "delay")
		w := newFleet(t, rapid.Uint64().Draw(r, "seed"), nodes, m, delay)
		for range rapid.IntRange(1, 3).Draw(r, "phases") {
			factor := rapid.SampledFrom([]float64{0.5, 0.95, 1.1, 3}).Draw(r, "factor")
			w.run(weir.Micros(rapid.IntRange(1, 3).Draw(r, "seconds"))*weir.Second,
				factor*float64(count)*float64(weir.Second)/float64(m.Limit.Window), rapid.Bool().Draw(r, "steady"))
		}
		bound := int64(nodes) * lease.Config{}.Settle().Most(m, nodes)
		switch m.Machine {
		case weir.Bucket:
			if got := w.most(); got > float64(m.Capacity+bound)+1e-6 {
				r.Fatalf("admitted %v beyond the rate, want at most %d and %d", got, m.Capacity, bound)
			}
		case weir.Runs:
			if got := w.rolling(); int64(got) > m.Capacity+m.RunCap-1+bound {
				r.Fatalf("admitted %d in a window, want at most %d, %d and %d", got, m.Capacity, m.RunCap-1, bound)
			}
		case weir.Window:
			perWindow := map[weir.Micros]int64{}
			for _, at := range w.admitted {
				if perWindow[at/m.Limit.Window]++; perWindow[at/m.Limit.Window] > count {
					r.Fatalf("more than %d in the window of %v", count, at)
				}
			}
		}
		st := w.total()
		if st.Spent+st.Lost+st.Held > st.Taken || st.Bound > bound {
			r.Fatalf("%+v, bound %d", st, bound)
		}
	})
}

// Leases cost next to nothing of the limit: of a demand that is steady and below
// it all is admitted, of one that is above it as much as the limit has.
func TestLeasesAreUsed(t *testing.T) {
	for _, m := range []*weir.Meter{
		limit(weir.GCRA, 500, weir.Second), limit(weir.SlidingWindow, 1000, 2*weir.Second),
		limit(weir.FixedWindow, 1000, 2*weir.Second), limit(weir.GCRA, 250, weir.Second),
	} {
		for _, nodes := range []int{1, 3} {
			for _, delay := range []weir.Micros{0, 2 * weir.Millisecond} {
				if nodes == 1 && delay > 0 {
					continue // others show as much
				}
				rate := float64(m.Limit.Count) * float64(weir.Second) / float64(m.Limit.Window)
				w := newFleet(t, 1, nodes, m, delay)
				w.run(6*weir.Second, 0.9*rate, true)
				// What a lease keeps for its node is, for a moment, missing elsewhere.
				if got := len(w.admitted); float64(got) < 0.98*float64(w.asked) {
					t.Errorf("%v, %d nodes, below: %d of %d", m.Limit, nodes, got, w.asked)
				}
				st := w.total()
				if float64(st.Spent) < 0.5*float64(w.asked) || float64(st.Lost) > 0.02*float64(st.Taken) {
					t.Errorf("%v, %d nodes: %d asked, %+v", m.Limit, nodes, w.asked, st)
				}
				w.run(4*weir.Second, 2*rate, true) // until it is used up
				before := len(w.admitted)
				w.run(6*weir.Second, 2*rate, true)
				if got := float64(len(w.admitted) - before); got < 0.98*6*rate {
					t.Errorf("%v, %d nodes, above: %v of %v", m.Limit, nodes, got, 6*rate)
				}
			}
		}
	}
}

// The whale: one tenant doubles its rate. Within five seconds its leases are as
// large as its new rate asks for, and nobody else is denied.
func TestWhale(t *testing.T) {
	m := limit(weir.GCRA, 20_000, weir.Second)
	small := limit(weir.GCRA, 200, weir.Second)
	w := newFleet(t, 1, 1, m, 0)
	n := w.nodes[0]
	phase := func(span weir.Micros, rate int64) (size int64, calls int) {
		before := n.calls
		for i := int64(0); i < rate*int64(span/weir.Second); i++ {
			w.clock.now += weir.Second / weir.Micros(rate)
			if e, _ := n.check(w.clock.now, 1, unitsOf("{a}k", m, 1)); !e.Admitted {
				t.Fatalf("the whale is denied at %d/s", rate)
			}
			if i%(rate/100) == 0 { // 100/s
				if e, _ := n.check(w.clock.now, 1, unitsOf("{b}k", small, 1)); !e.Admitted {
					t.Fatal("a neighbour is denied")
				}
			}
		}
		n.tier.leases.(*leaser).table.Each(func(_ keytable.ID, h *holding) bool {
			if h.key == "{a}k" {
				size = h.sizer.Size()
			}
			return true
		})
		return size, n.calls - before
	}
	for _, rate := range []int64{2000, 4000, 2000} {
		size, _ := phase(5*weir.Second, rate)
		if want := rate / 10; size < want*9/10 || size > want*11/10 {
			t.Errorf("after 5 s of %d/s a lease has %d units, want about %d", rate, size, want)
		}
		if _, calls := phase(weir.Second, rate); calls > 200 { // the neighbour's included
			t.Errorf("%d calls a second at %d/s", calls, rate)
		}
	}
}
