package degrade_test

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir/internal/degrade"
)

const deadline = 10 * time.Millisecond

// load sends requests to a gate at a steady rate, in virtual time.
type load struct {
	gate *degrade.Gate
	// takes is how long the store takes for a request that comes now, with so
	// many under way; the engine ends the wait at the deadline.
	takes func(now time.Duration, inside int) time.Duration

	now    time.Duration
	inside answers
	sent   int
	shed   int
	late   int // above the target
}

// answers are those to come, the first first.
type answers []answered

type answered struct{ at, took time.Duration }

func (a answers) Len() int           { return len(a) }
func (a answers) Less(i, j int) bool { return a[i].at < a[j].at }
func (a answers) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *answers) Push(x any)        { *a = append(*a, x.(answered)) }
func (a *answers) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// run sends a request every gap for a while, and counts anew.
func (l *load) run(span, gap time.Duration) {
	l.sent, l.shed, l.late = 0, 0, 0
	for end := l.now + span; l.now < end; l.now += gap {
		for len(l.inside) > 0 && l.inside[0].at <= l.now {
			l.gate.Leave(heap.Pop(&l.inside).(answered).took)
		}
		l.sent++
		if !l.gate.Enter() {
			l.shed++
			continue
		}
		took := min(l.takes(l.now, len(l.inside)), deadline)
		if took > deadline/2 {
			l.late++
		}
		heap.Push(&l.inside, answered{l.now + took, took})
	}
}

func newGate() *degrade.Gate {
	return degrade.NewGate(degrade.GateOptions{MaxInFlight: 4096, Floor: 16, Target: deadline / 2})
}

// TestGateIsOpen: a store that is fast enough sees every request.
func TestGateIsOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.IntRange(1, 4000).Draw(t, "base")) * time.Microsecond
		rare := rapid.IntRange(20, 100).Draw(t, "one slow in")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		l := &load{gate: newGate(), takes: func(time.Duration, int) time.Duration {
			if rng.IntN(rare) == 0 {
				return deadline
			}
			return base
		}}
		l.run(60*time.Millisecond, 20*time.Microsecond)
		if l.shed > 0 {
			t.Fatalf("%d of %d were kept out", l.shed, l.sent)
		}
	})
}

// TestGateSettles: of a load that is above what the store can do, about as much
// is let in as it can do in time.
func TestGateSettles(t *testing.T) {
	for _, us := range []int{23, 40, 100} {
		each := time.Duration(us) * time.Microsecond
		l := &load{gate: newGate()}
		free := time.Duration(0) // when the store has done all it was asked
		l.takes = func(now time.Duration, _ int) time.Duration {
			free = max(free, now) + each
			return free - now
		}
		l.run(2*time.Second, each/2) // find the limit
		l.run(2*time.Second, each/2)
		passed := float64(l.sent-l.shed) / float64(l.sent)
		if passed < 0.45 || passed > 0.55 {
			t.Fatalf("%.2f of twice the load was let in, want a half", passed)
		}
		if late := float64(l.late) / float64(l.sent-l.shed); late > 0.5 {
			t.Fatalf("%.2f of those took longer than the target", late)
		}
		if _, limit := l.gate.InFlight(); limit > int64(3*deadline/2/each) {
			t.Fatalf("%d may wait, each for %v", limit, each)
		}
		free = 0
		l.run(2*time.Second, 2*each) // half the load
		l.run(time.Second, 2*each)
		if l.shed > 0 {
			t.Fatalf("%d were kept out for nothing", l.shed)
		}
	}
}

// TestGateAfterHang: after a store that did not answer at all, nobody is kept
// out for long.
func TestGateAfterHang(t *testing.T) {
	hangs := true
	l := &load{gate: newGate(), takes: func(time.Duration, int) time.Duration {
		if hangs {
			return time.Hour
		}
		return time.Millisecond
	}}
	const gap = 10 * time.Microsecond // 100 under way when it is fast
	l.run(3*time.Second, gap)
	if l.shed == 0 || l.sent-l.shed < 16 {
		t.Errorf("%d of %d were kept out while it hung", l.shed, l.sent)
	}
	hangs = false
	l.run(200*time.Millisecond, gap)
	if l.shed == 0 {
		t.Error("nobody was kept out: there is nothing to recover from")
	}
	l.run(time.Second, gap)
	if l.shed > 0 {
		t.Errorf("%d of %d were kept out afterwards", l.shed, l.sent)
	}
	l.run(time.Second, gap)
	if now, limit := l.gate.InFlight(); limit != 4096 || now > 200 {
		t.Errorf("%d of %d under way", now, limit)
	}
}

func TestGateBounds(t *testing.T) {
	g := degrade.NewGate(degrade.GateOptions{MaxInFlight: 3, Target: time.Hour})
	for i, want := range []bool{true, true, true, false, false} {
		if g.Enter() != want {
			t.Errorf("request %d: want %v", i+1, want)
		}
	}
	g.Leave(0)
	if !g.Enter() || g.Enter() {
		t.Error("one left, one may come")
	}
}

// TestGateFallsFromThoseInside: the limit falls below those that were under way
// at once, wherever it was, and however few are left at the end of a batch.
func TestGateFallsFromThoseInside(t *testing.T) {
	g := newGate()
	for range 1024 {
		g.Enter()
	}
	for range 1024 {
		g.Leave(deadline)
	}
	if now, limit := g.InFlight(); now != 0 || limit != 1024-103 {
		t.Errorf("%d of %d under way", now, limit)
	}
}

func TestGateCountsRight(t *testing.T) {
	g := degrade.NewGate(degrade.GateOptions{Target: time.Millisecond})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 10_000 {
				if g.Enter() {
					g.Leave(time.Duration((i+w)%4) * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	if now, limit := g.InFlight(); now != 0 || limit < degrade.DefaultFloor {
		t.Errorf("%d of %d under way", now, limit)
	}
}

func BenchmarkGate(b *testing.B) {
	g := degrade.NewGate(degrade.GateOptions{Target: time.Second})
	b.ReportAllocs()
	for b.Loop() {
		if g.Enter() {
			g.Leave(0)
		}
	}
}
