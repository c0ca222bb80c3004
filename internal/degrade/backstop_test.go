package degrade_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

const start = 100 * weir.Second

func meter(t testing.TB, text string) *weir.Meter {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return weir.MustMeter(l)
}

func askOf(now weir.Micros, strict bool, charges ...weir.Charge) *stage.Ask {
	a := &stage.Ask{Now: now, Serial: 1, Entry: &weir.Entry{Charges: charges}}
	for _, c := range charges {
		a.Hints = append(a.Hints, stage.Hint{ID: keytable.Of(c.Key), Strict: strict})
	}
	return a
}

func answer(b *degrade.Backstop, now weir.Micros, charges ...weir.Charge) *weir.Entry {
	a := askOf(now, false, charges...)
	b.Answer(a)
	return a.Entry
}

func learn(b *degrade.Backstop, now weir.Micros, c weir.Charge, remaining int64) {
	a := askOf(now, false, c)
	a.Entry.Outcomes = []weir.Outcome{{OK: true, Remaining: remaining}}
	b.Learn(a)
}

func drain(b *degrade.Backstop, now weir.Micros, c weir.Charge) (passed int) {
	for answer(b, now, c).Admitted {
		passed++
	}
	return passed
}

func TestBackstop(t *testing.T) {
	m := meter(t, "40/h burst 40")
	instances := 2
	b := degrade.NewBackstop(degrade.BackstopOptions{Instances: func() int { return instances }})
	cold, warm := weir.Charge{Key: "cold", Meter: m, Cost: 1}, weir.Charge{Key: "warm", Meter: m, Cost: 1}
	learn(b, start, warm, 10)
	if n := drain(b, start, cold); n != 20 {
		t.Errorf("cold: %d", n)
	}
	if n := drain(b, start, warm); n != 5 {
		t.Errorf("warm: %d", n)
	}
	e := answer(b, start, warm)
	if o := e.Outcomes[0]; e.Admitted || o.Remaining != 0 || o.RetryAfter != 3*weir.Minute {
		t.Errorf("denied: %+v", o)
	}
	// A reset is one here as well.
	b.Forget("warm")
	if n := drain(b, start, warm); n != 20 {
		t.Errorf("reset: %d", n)
	}
	// What the store remembers of an earlier request is no news.
	again := weir.Charge{Key: "again", Meter: m, Cost: 1}
	learn(b, start, again, 6)
	a := askOf(start+1, false, again)
	a.Entry.Outcomes, a.Entry.Replayed = []weir.Outcome{{Remaining: 40}}, true
	b.Learn(a)
	if n := drain(b, start+1, again); n != 3 {
		t.Errorf("replayed: %d", n)
	}
	instances = 0 // nobody knows: at least this one
	if n := drain(b, start, weir.Charge{Key: "alone", Meter: m, Cost: 1}); n != 40 {
		t.Errorf("alone: %d", n)
	}
}

func TestStrict(t *testing.T) {
	m := meter(t, "40/h burst 40")
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	passed := 0
	for range 100 {
		a := askOf(start, true, weir.Charge{Key: "k", Meter: m, Cost: 1})
		if b.Answer(a); a.Entry.Admitted {
			passed++
		}
	}
	if passed != 10 {
		t.Errorf("%d passed, want a quarter", passed)
	}
}

func TestEntriesAreAllOrNothing(t *testing.T) {
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	wide := weir.Charge{Key: "wide", Meter: meter(t, "10/h burst 10"), Cost: 1}
	narrow := weir.Charge{Key: "narrow", Meter: meter(t, "3/h burst 3"), Cost: 1}
	for range 10 {
		answer(b, start, wide, narrow)
	}
	if n := drain(b, start, wide); n != 7 {
		t.Errorf("%d are left of the wide one, want 7", n)
	}
}

// A counter that has two names for a while is not two.
func TestTwins(t *testing.T) {
	m := meter(t, "10/h burst 10")
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	before := weir.Charge{Key: "{t}old", Meter: m, Cost: 1, Twin: "{t}new", Twinning: weir.TwinNext}
	after := weir.Charge{Key: "{t}new", Meter: m, Cost: 1, Twin: "{t}old", Twinning: weir.TwinLast}
	for range 4 {
		answer(b, start, before)
	}
	if n := drain(b, start, after); n != 6 {
		t.Errorf("%d passed under the new name, want 6", n)
	}
}

// A flood of keys neither grows the table nor gets more than one request a key
// once it is full, and does not push out those who are in use.
func TestFlood(t *testing.T) {
	const keys = 1024
	m := meter(t, "100/h burst 100")
	b := degrade.NewBackstop(degrade.BackstopOptions{Keys: keys})
	tenant := weir.Charge{Key: "tenant", Meter: m, Cost: 1}
	passed := 0
	for i := range 12 * keys {
		c := weir.Charge{Key: fmt.Sprint("random", i%(5*keys)), Meter: m, Cost: 1}
		for range 3 {
			if answer(b, start, c).Admitted && i >= 6*keys {
				passed++
			}
		}
		if i%100 == 0 {
			answer(b, start, tenant)
		}
	}
	if b.Keys() > keys {
		t.Errorf("%d keys are held, want %d at most", b.Keys(), keys)
	}
	if passed > 6*keys {
		t.Errorf("%d passed in %d visits", passed, 6*keys)
	}
	if n := drain(b, start, tenant); n != 0 {
		t.Errorf("%d are left to one who was there throughout", n)
	}
}

// Requests that are decided at once let through no more than one by one.
func TestConcurrentAnswers(t *testing.T) {
	one, two := meter(t, "20000/d burst 20000"), meter(t, "30000/d burst 30000")
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	var a, ab atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3000 {
				if answer(b, start, weir.Charge{Key: "a", Meter: one, Cost: 1}).Admitted {
					a.Add(1)
				}
				if answer(b, start, weir.Charge{Key: "a", Meter: one, Cost: 1}, weir.Charge{Key: "b", Meter: two, Cost: 1}).Admitted {
					ab.Add(1)
				}
				learn(b, start, weir.Charge{Key: "c", Meter: one, Cost: 1}, 5)
			}
		})
	}
	wg.Wait()
	if got := a.Load() + ab.Load(); got != 20_000 {
		t.Errorf("%d passed of 20000", got)
	}
	if n := drain(b, start, weir.Charge{Key: "b", Meter: two, Cost: 1}); int64(n) != 30_000-ab.Load() {
		t.Errorf("%d are left of the other, and %d passed", n, ab.Load())
	}
}

func TestStagesAllocateNothing(t *testing.T) {
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	m := meter(t, "7/3s burst 10")
	a := askOf(start, false, weir.Charge{Key: "a", Meter: m, Cost: 1}, weir.Charge{Key: "b", Meter: m, Cost: 1})
	b.Answer(a)
	for name, f := range map[string]func(){"Learn": func() { b.Learn(a) }, "Answer": func() { b.Answer(a) }} {
		if n := testing.AllocsPerRun(1000, f); n > 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkLearn is what it costs to learn of keys in no order, few and many.
func BenchmarkLearn(b *testing.B) {
	m := meter(b, "100/s burst 200")
	for _, keys := range []int{1, 1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			back := degrade.NewBackstop(degrade.BackstopOptions{})
			a := askOf(start, false, weir.Charge{Meter: m, Cost: 1})
			a.Entry.Outcomes = []weir.Outcome{{Remaining: 7}}
			rnd := rand.New(rand.NewPCG(1, 2))
			ids := make([]keytable.ID, keys)
			for i := range ids {
				ids[i] = keytable.Of(fmt.Sprint(i))
			}
			learn := func() {
				a.Hints[0].ID = ids[rnd.IntN(keys)]
				back.Learn(a)
			}
			for range 4 * keys {
				learn()
			}
			b.ReportAllocs()
			for b.Loop() {
				learn()
			}
		})
	}
}

func BenchmarkAnswer(b *testing.B) {
	for _, charges := range []int{1, 3} {
		b.Run(fmt.Sprint("charges=", charges), func(b *testing.B) {
			back := degrade.NewBackstop(degrade.BackstopOptions{Instances: func() int { return 3 }})
			m := meter(b, "7000000/s burst 200")
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var all []weir.Charge
				for i := range charges {
					all = append(all, weir.Charge{Key: fmt.Sprint("tenant", i), Meter: m, Cost: 1})
				}
				a := askOf(start, false, all...)
				for pb.Next() {
					a.Now++
					back.Answer(a)
				}
			})
		})
	}
}

// TestDeniedIsNoDebt: of charges that count denied or not, as of envoyproxy's
// rules, a store forgets what was denied with the window. Here it is not counted:
// who asks for twice the limit gets the limit, and whoever stops is served again.
func TestDeniedIsNoDebt(t *testing.T) {
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	c := weir.Charge{Key: "k", Meter: meter(t, "10/s fixed_window"), Cost: 1, Mode: weir.Always}
	passed, now := 0, start
	for range 20 * 60 {
		now += weir.Second / 20
		if answer(b, now, c).Admitted {
			passed++
		}
	}
	if passed < 600 || passed > 610 {
		t.Errorf("%d passed in a minute, want 10 a second and at most 10 besides", passed)
	}
	if e := answer(b, now+weir.Second, c); !e.Admitted {
		t.Errorf("denied a second later: %+v", e.Outcomes)
	}
}

// TestSpentIsDebt: units that are used already count, fit or not.
func TestSpentIsDebt(t *testing.T) {
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	c := weir.Charge{Key: "k", Meter: meter(t, "10/s burst 10"), Cost: 25, Mode: weir.Always}
	a := askOf(start, false, c)
	a.Hints[0].Spent = true
	b.Answer(a)
	c.Cost, c.Mode = 1, weir.Enforce
	if e := answer(b, start, c); e.Admitted || e.Outcomes[0].RetryAfter != 16*weir.Second/10 {
		t.Errorf("after 25 were spent: %+v", e)
	}
}
