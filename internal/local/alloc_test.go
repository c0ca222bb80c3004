package local

import (
	"fmt"
	"sync"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/stage"
)

// Neither an answer nor learning allocates, also at the cap.
func TestAllocatesNothing(t *testing.T) {
	n := newWorld(t).node(64)
	limit := "1/h gcra"
	var asks []stage.Ask
	for i := range 200 {
		charges := []weir.Charge{charge(t, fmt.Sprint("k", i), limit, 1), charge(t, fmt.Sprint("l", i), "9/h", 1)}
		n.decide(charges...)
		n.decide(charges...)
		a := n.ask
		e := n.entry
		e.Charges, e.Outcomes = charges, append([]weir.Outcome(nil), e.Outcomes...)
		a.Entry, a.Hints = &e, append([]stage.Hint(nil), a.Hints...)
		asks = append(asks, a)
	}
	i := 0
	if got := testing.AllocsPerRun(1000, func() { i++; n.tier.Learn(&asks[i%len(asks)]) }); got != 0 {
		t.Errorf("%v allocations to learn", got)
	}
	last := asks[i%len(asks)]
	here := true
	if got := testing.AllocsPerRun(1000, func() { _, ok := n.tier.Try(&last); here = here && ok }); got != 0 || !here {
		t.Errorf("%v allocations to answer; answered here: %v", got, here)
	}
}

// Records are learnt, told, refunded and forgotten from all sides.
func TestRaces(t *testing.T) {
	w := newWorld(t)
	tier := New(Options{Denials: 32})
	var wg sync.WaitGroup
	for g := range 4 {
		n := w.node(1)
		n.tier = tier
		wg.Go(func() {
			for i := range 2000 {
				key := fmt.Sprint("k", i%40)
				c := charge(t, key, "1/h gcra", 1)
				switch n.decide(c); (i + g) % 7 {
				case 0:
					n.decide(with(weir.Refund, c))
				case 1:
					tier.Forget(key)
				case 2:
					tier.Stats()
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkTry is the tier by itself: a denial told, a counter that is not known
// while others are denied, and nothing denied at all.
func BenchmarkTry(b *testing.B) {
	denied := func(n *node) *stage.Ask {
		c := charge(b, "denied", "1/h gcra", 1)
		n.decide(c)
		n.decide(c)
		return n.prepare("", false, []weir.Charge{c})
	}
	for name, prepare := range map[string]func(*node) *stage.Ask{
		"denied": denied,
		"passes": func(n *node) *stage.Ask {
			denied(n)
			return n.prepare("", false, []weir.Charge{charge(b, "other", "1/h gcra", 1)})
		},
		"quiet": func(n *node) *stage.Ask {
			return n.prepare("", false, []weir.Charge{charge(b, "other", "1/h gcra", 1)})
		},
	} {
		b.Run(name, func(b *testing.B) {
			n := newWorld(b).node(DefaultDenials)
			a := prepare(n)
			for b.Loop() {
				if _, ok := n.tier.Try(a); ok != (name == "denied") {
					b.Fatal(ok)
				}
			}
		})
	}
}
