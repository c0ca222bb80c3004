package redisstore

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/weirlimit/weir"
)

// What follows are subtests of TestCluster: entries whose keys live on several
// nodes.

func charge(key string, m *weir.Meter, cost int64) weir.Charge {
	return weir.Charge{Key: key, Meter: m, Cost: cost}
}

func testSplitAdmitted(t *testing.T, c *cluster) {
	m := still(10)
	keys := []string{c.on(t, 0), c.on(t, 1), c.on(t, 2), c.on(t, 0)}
	for _, id := range []string{"", "r1"} {
		e := weir.Entry{ID: id}
		for i, k := range keys {
			e.Charges = append(e.Charges, charge(k, m, int64(i+1)))
		}
		e = admit(t, c.s, e)
		for i := range e.Outcomes {
			if o := e.Outcomes[i]; !o.OK || o.Granted != int64(i+1) {
				t.Errorf("charge %d: %+v", i, o)
			}
		}
	}
	for i, k := range keys {
		if got := used(t, c.s, k, m); got != 2*int64(i+1) {
			t.Errorf("charge %d: %d units in use, want %d", i, got, 2*(i+1))
		}
	}
}

func testSplitDenied(t *testing.T, c *cluster) {
	m := still(10)
	for _, id := range []string{"", "r2"} {
		a, b, full := c.on(t, 0), c.on(t, 1), c.on(t, 2)
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(full, m, 10)}})
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(a, m, 1)}})
		e := deny(t, c.s, weir.Entry{ID: id, Charges: []weir.Charge{charge(a, m, 3), charge(b, m, 2), charge(full, m, 1)}})
		if e.Binding() != 2 || e.Outcomes[2].OK || e.Outcomes[2].RetryAfter <= 0 {
			t.Errorf("the denying charge answers %+v", e.Outcomes[2])
		}
		for i, want := range []int64{9, 10} {
			if o := e.Outcomes[i]; !o.OK || o.Granted != 0 || o.Remaining != want {
				t.Errorf("charge %d answers %+v, want nothing granted and %d remaining", i, o, want)
			}
		}
		eventually(t, "the refund", wantUsed(t, c.s, a, m, 1))
		eventually(t, "the refund", wantUsed(t, c.s, b, m, 0))
		if got := used(t, c.s, full, m); got != 10 {
			t.Errorf("the full key has %d units in use, want 10", got)
		}
		// Denied, it is decided afresh.
		if err := c.s.Reset(t.Context(), full); err != nil {
			t.Fatal(err)
		}
		if e := admit(t, c.s, weir.Entry{ID: id, Charges: []weir.Charge{charge(a, m, 3), charge(b, m, 2), charge(full, m, 1)}}); e.Replayed {
			t.Error("a denial was replayed")
		}
	}
}

// Always counts and Refund gives back whether the entry is admitted or not.
func testSplitKept(t *testing.T, c *cluster) {
	m := still(10)
	always, refund, shadow, full := c.on(t, 0), c.on(t, 1), c.on(t, 1), c.on(t, 2)
	for _, k := range []string{always, refund, full} {
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 6)}})
	}
	beside := always[:len(always)-1] + "}beside" // in the slot of always
	e := weir.Entry{Charges: []weir.Charge{
		{Key: always, Meter: m, Cost: 2, Mode: weir.Always},
		{Key: beside, Meter: m, Cost: 2},
		{Key: refund, Meter: m, Cost: 2, Mode: weir.Refund},
		{Key: shadow, Meter: m, Cost: 2, Mode: weir.Shadow},
		{Key: full, Meter: m, Cost: 5},
	}}
	e = deny(t, c.s, e)
	if e.Outcomes[0].Granted != 2 || e.Outcomes[2].Granted != 2 {
		t.Errorf("always answers %+v, refund %+v", e.Outcomes[0], e.Outcomes[2])
	}
	eventually(t, "the undo", wantUsed(t, c.s, beside, m, 0))
	eventually(t, "the undo", wantUsed(t, c.s, shadow, m, 0))
	for k, want := range map[string]int64{always: 8, refund: 4, full: 6} {
		if got := used(t, c.s, k, m); got != want {
			t.Errorf("%q has %d units in use, want %d", k, got, want)
		}
	}
}

func testSplitConcurrency(t *testing.T, c *cluster) {
	slots := weir.MustMeter(weir.Limit{Algorithm: weir.Concurrency, Count: 3, Window: weir.Hour})
	m := still(10)
	work, full := c.on(t, 0), c.on(t, 1)
	e := func(id string) weir.Entry {
		return weir.Entry{ID: id, Charges: []weir.Charge{charge(work, slots, 1), charge(full, m, 5)}}
	}
	admit(t, c.s, e("r1"))
	admit(t, c.s, e("r2"))
	deny(t, c.s, e("r3"))
	eventually(t, "the release", wantUsed(t, c.s, work, slots, 2))
	// r1 asks for more and is denied; what it holds already it keeps.
	deny(t, c.s, weir.Entry{ID: "r1", Charges: []weir.Charge{charge(work, slots, 1), charge(full, m, 1)}})
	deny(t, c.s, e("r4"))
	eventually(t, "the release", wantUsed(t, c.s, work, slots, 2))
	admit(t, c.s, weir.Entry{ID: "r1", Charges: []weir.Charge{{Key: work, Meter: slots, Cost: 1, Mode: weir.Refund}}})
	if got := used(t, c.s, work, slots); got != 1 {
		t.Errorf("%d units in use after r1 is done, want 1", got)
	}
}

func testSplitUpTo(t *testing.T, c *cluster) {
	for _, id := range []string{"", "r"} {
		a, b, d := c.on(t, 0), c.on(t, 1), c.on(t, 2)
		ma, mb := still(10), still(4)
		upTo := func(key string, m *weir.Meter) weir.Charge {
			return weir.Charge{Key: key, Meter: m, Cost: 8, Mode: weir.UpTo}
		}
		e := admit(t, c.s, weir.Entry{ID: id, Charges: []weir.Charge{upTo(a, ma), upTo(b, mb), upTo(d, ma)}})
		for i, want := range []int64{6, 0, 6} {
			if o := e.Outcomes[i]; o.Granted != 4 || o.Remaining != want {
				t.Errorf("charge %d: %+v, want 4 granted and %d remaining", i, o, want)
			}
		}
		for _, k := range []string{a, d} {
			eventually(t, "the rest to be returned", wantUsed(t, c.s, k, ma, 4))
		}
		if got := used(t, c.s, b, mb); got != 4 {
			t.Errorf("%d units in use, want 4", got)
		}
		if id == "" {
			continue
		}
		again := admit(t, c.s, weir.Entry{ID: id, Charges: []weir.Charge{upTo(a, ma), upTo(b, mb), upTo(d, ma)}})
		if !again.Replayed || again.Outcomes[0].Granted != 4 {
			t.Errorf("replayed %v, %+v", again.Replayed, again.Outcomes[0])
		}
		if got := used(t, c.s, a, ma); got != 4 {
			t.Errorf("%d units in use after the replay, want 4", got)
		}
	}
}

func testSplitGroups(t *testing.T, c *cluster) {
	m := still(2)
	for _, mode := range []weir.Mode{weir.Enforce, weir.Always} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b, enforced := c.on(t, 0), c.on(t, 1), c.on(t, 2)
			big := still(10)
			e := func() weir.Entry {
				return weir.Entry{Charges: []weir.Charge{
					{Key: a, Meter: m, Cost: 1, Group: 1, Mode: mode},
					{Key: b, Meter: big, Cost: 1, Group: 1, Mode: mode},
					{Key: enforced, Meter: big, Cost: 1},
				}}
			}
			for range 5 {
				admit(t, c.s, e()) // a has no room from the third on, b does
			}
			wantA := int64(2)
			if mode == weir.Always {
				wantA = 5
			}
			for k, want := range map[string]int64{a: wantA, b: 5, enforced: 5} {
				if got := used(t, c.s, k, big); got != want {
					t.Errorf("%q has %d units in use, want %d", k, got, want)
				}
			}
			admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(b, big, 5)}})
			deny(t, c.s, e())
			eventually(t, "the refund", wantUsed(t, c.s, enforced, big, 5))
		})
	}
}

func testSplitReplay(t *testing.T, c *cluster) {
	m := still(10)
	a, b := c.on(t, 0), c.on(t, 1)
	e := weir.Entry{ID: "twice", Charges: []weir.Charge{charge(a, m, 2), charge(b, m, 3)}}
	first := admit(t, c.s, e)
	e.Outcomes = nil
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(a, m, 1)}})
	again := admit(t, open(t, c.opts), e)
	if first.Replayed || !again.Replayed {
		t.Errorf("replayed %v, then %v", first.Replayed, again.Replayed)
	}
	for i := range first.Outcomes {
		if first.Outcomes[i] != again.Outcomes[i] {
			t.Errorf("charge %d: replayed %+v, first %+v", i, again.Outcomes[i], first.Outcomes[i])
		}
	}
	if ua, ub := used(t, c.s, a, m), used(t, c.s, b, m); ua != 3 || ub != 3 {
		t.Errorf("%d and %d units in use, want 3 and 3", ua, ub)
	}
}

// Callers that compete for keys of several nodes: in the end every key holds
// just what was admitted.
func testSplitConcurrent(t *testing.T, c *cluster) {
	const keys, callers, rounds = 6, 8, 40
	m := still(60)
	names := make([]string, keys)
	for i := range names {
		names[i] = c.on(t, i%3)
	}
	var mu sync.Mutex
	want := make(map[string]int64)
	var wg sync.WaitGroup
	for caller := range callers {
		rnd := rand.New(rand.NewPCG(uint64(caller), 1))
		wg.Go(func() {
			for range rounds {
				var e weir.Entry
				for _, i := range rnd.Perm(keys)[:2+rnd.IntN(2)] {
					e.Charges = append(e.Charges, charge(names[i], m, 1+rnd.Int64N(3)))
				}
				e = decide(c.s, e)
				if e.Err != nil {
					t.Error(e.Err)
					return
				}
				if !e.Admitted {
					continue
				}
				mu.Lock()
				for i := range e.Charges {
					want[e.Charges[i].Key] += e.Charges[i].Cost
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	full := 0
	for _, k := range names {
		eventually(t, "the refunds", wantUsed(t, c.s, k, m, want[k]))
		if want[k] > m.Capacity {
			t.Errorf("%q: %d units were admitted of %d", k, want[k], m.Capacity)
		}
		if want[k] > m.Capacity-3 {
			full++
		}
	}
	if full == 0 {
		t.Error("no key was used up: the test shows nothing")
	}
}
