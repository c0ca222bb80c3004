package algo_test

import (
	"math/big"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/oracle"
	"pgregory.net/rapid"
)

// event is n units admitted at one instant.
type event struct {
	at weir.Micros
	n  int64
}

// attack charges a key as an adversary would: at the edges that the answers
// give away, for all that is left, a bit of it, or one more.
func attack(t *rapid.T, m *weir.Meter, steps int, costs ...int64) []event {
	var admitted []event
	s, now, last := algo.State{}, epoch, weir.Outcome{Remaining: m.Capacity}
	for range steps {
		now += drawStep(t, m.Limit, now, last, false)
		var cost int64
		if len(costs) > 0 {
			cost = rapid.SampledFrom(costs).Draw(t, "cost")
		} else {
			cost = drawCost(t, m.Capacity, last.Remaining)
		}
		last = algo.Decide(m, &s, now, cost, algo.Owner{})
		if last.Granted > 0 {
			admitted = append(admitted, event{now + last.Delay, last.Granted})
		}
	}
	return admitted
}

// atMost fails when, in an interval from one event to another, more than
// fixed + count*span/window units were admitted. A span of extra microseconds
// is granted to intervals whose ends were rounded.
func atMost(t *rapid.T, l weir.Limit, events []event, fixed int64, extra weir.Micros) {
	window := big.NewInt(int64(l.Window))
	for i := range events {
		sum := int64(0)
		for _, e := range events[i:] {
			sum += e.n
			span := e.at - events[i].at + extra
			need := new(big.Int).Mul(big.NewInt(sum-fixed), window)
			supply := new(big.Int).Mul(big.NewInt(l.Count), big.NewInt(int64(span)))
			if need.Cmp(supply) > 0 {
				t.Fatalf("%v: %d units from %d to %d", l, sum, events[i].at, e.at)
			}
		}
	}
}

func rolling(events []event) *oracle.Rolling {
	var r oracle.Rolling
	for _, e := range events {
		r.Admit(e.at, e.n)
	}
	return &r
}

func TestWorstCaseBoundIsNeverExceeded(t *testing.T) {
	check := func(name string, prop func(t *rapid.T)) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, prop) })
	}
	check("gcra", func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, weir.GCRA, weir.TokenBucket))
		atMost(t, m.Limit, attack(t, m, 60), m.Capacity, 0)
	})
	check("leaky_bucket admits", func(t *rapid.T) {
		m := *weir.MustMeter(drawLimit(t, weir.LeakyBucket))
		m.Shapes = false // the instants of admission, not of release
		atMost(t, m.Limit, attack(t, &m, 60), m.Capacity, 0)
	})
	check("leaky_bucket releases", func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, weir.LeakyBucket))
		// Releases are rounded up to a microsecond, so that two may come up to
		// one closer than they are due.
		atMost(t, m.Limit, attack(t, m, 60, 1), 1, 1)
	})
	check("fixed_window", func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, weir.FixedWindow))
		perWindow := map[weir.Micros]int64{}
		events := attack(t, m, 60)
		for _, e := range events {
			number := e.at / m.Limit.Window
			perWindow[number] += e.n
			if perWindow[number] > m.Limit.Count {
				t.Fatalf("%v: %d units in window %d", m.Limit, perWindow[number], number)
			}
		}
		if most := rolling(events).Most(m.Limit.Window); most > 2*m.Limit.Count {
			t.Fatalf("%v: %d units across an edge", m.Limit, most)
		}
	})
	check("sliding_window", func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, weir.SlidingWindow))
		bound := m.Limit.Count + (m.Limit.Count+15)/16 - 1
		if most := rolling(attack(t, m, 100)).Most(m.Limit.Window); most > bound {
			t.Fatalf("%v: %d units in one window, more than %d", m.Limit, most, bound)
		}
	})
	check("sliding_log", func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, weir.SlidingLog))
		if most := rolling(attack(t, m, 100)).Most(m.Limit.Window); most > m.Limit.Count {
			t.Fatalf("%v: %d units in one window", m.Limit, most)
		}
	})
	check("concurrency", boundOfConcurrency)
}

// boundOfConcurrency counts by itself who is in progress.
func boundOfConcurrency(t *rapid.T) {
	m := weir.MustMeter(drawLimit(t, weir.Concurrency))
	held, since := map[string]int64{}, map[string]weir.Micros{}
	s, now, last := algo.State{}, epoch, weir.Outcome{Remaining: m.Capacity}
	for range 60 {
		now += drawStep(t, m.Limit, now, last, false)
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id")
		if rapid.IntRange(0, 3).Draw(t, "release") == 0 {
			refund(m, &s, now, 1, id)
			delete(held, id)
			continue
		}
		cost := drawCost(t, m.Capacity, last.Remaining)
		last = algo.Decide(m, &s, now, cost, algo.OwnerOf(id))
		if last.Granted > 0 {
			held[id] = last.Granted
		}
		if last.OK && cost > 0 {
			since[id] = now
		}
		sum := int64(0)
		for id, n := range held {
			if since[id]+m.Limit.Window > now {
				sum += n
			}
		}
		if sum > m.Limit.Count {
			t.Fatalf("%v: %d in progress", m.Limit, sum)
		}
	}
}

// TestBoundsAreAttained shows that the bounds are as small as can be: a test
// that could not reach one would prove little by staying below it.
func TestBoundsAreAttained(t *testing.T) {
	take := func(m *weir.Meter, s *algo.State, at weir.Micros) int64 {
		return chargeOne(m, s, at, m.Capacity, weir.UpTo, "").Granted
	}
	for _, count := range []int64{1, 16, 17, 160, 1000, 30_011, weir.MaxCount} {
		m := meter(t, weir.Limit{Algorithm: weir.SlidingWindow, Count: count, Window: weir.Minute})
		s := algo.State{}
		chargeOne(m, &s, epoch, 1, weir.Enforce, "")
		sum := take(m, &s, epoch+weir.Minute-1) + take(m, &s, epoch+weir.Minute)
		if bound := count + (count+15)/16 - 1; sum != bound {
			t.Errorf("sliding window of %d: reached %d in 1 us, bound %d", count, sum, bound)
		}
	}
	m, s := parse(t, "100/m fixed_window"), algo.State{}
	if sum := take(m, &s, epoch-1) + take(m, &s, epoch); sum != 200 {
		t.Errorf("fixed window of 100: reached %d across an edge", sum)
	}
	m, s = parse(t, "3/s burst 7"), algo.State{}
	if sum := take(m, &s, epoch) + take(m, &s, epoch+weir.Second); sum != 10 {
		t.Errorf("3/s burst 7: reached %d in 1 s", sum)
	}
}
