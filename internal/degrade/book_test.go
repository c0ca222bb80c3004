package degrade_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade"
)

// TestNews: whatever was noted last of a key is what an outage begins with, be it
// the first note of a key, one of many or one that was overtaken.
func TestNews(t *testing.T) {
	const keys = 500
	m := meter(t, "40/h burst 40")
	rnd := rand.New(rand.NewPCG(1, 2))
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	type told struct {
		at   weir.Micros
		left int64
	}
	last := map[string]told{}
	for range 20 {
		for range 300 {
			// In runs, as of a key that many ask for at once.
			key := fmt.Sprint("k", rnd.IntN(keys))
			for range 1 + rnd.IntN(3) {
				// The latest is the one that counts, and of two at one time the second.
				n := told{start + weir.Micros(rnd.IntN(200)), int64(rnd.IntN(41))}
				learn(b, n.at, weir.Charge{Key: key, Meter: m, Cost: 1}, n.left)
				if had, ok := last[key]; !ok || n.at >= had.at {
					last[key] = n
				}
			}
		}
		if got := b.Keys(); got != len(last) {
			t.Fatalf("%d keys are known, want %d", got, len(last))
		}
	}
	for key, n := range last {
		if got := drain(b, start+200, weir.Charge{Key: key, Meter: m, Cost: 1}); int64(got) != n.left {
			t.Errorf("%s: %d passed, %d were left", key, got, n.left)
		}
	}
}

// TestForgetNews: a counter that is reset is so also when the last that was heard
// of it is only noted.
func TestForgetNews(t *testing.T) {
	m := meter(t, "40/h burst 40")
	b := degrade.NewBackstop(degrade.BackstopOptions{})
	for i := range 20 { // at any place of a page
		c := weir.Charge{Key: fmt.Sprint("k", i), Meter: m, Cost: 1}
		learn(b, start, c, 3)
		b.Forget(c.Key)
		if n := drain(b, start, c); n != 40 {
			t.Errorf("%s: %d passed after a reset", c.Key, n)
		}
	}
}

// TestNewsCrowd: keys of which only the store's answers are known fill the table
// as others do: one that may have been forgotten has a single request.
func TestNewsCrowd(t *testing.T) {
	const keys = 4096
	m := meter(t, "40/h burst 40")
	b := degrade.NewBackstop(degrade.BackstopOptions{Keys: keys})
	for i := range 2 * keys {
		learn(b, start, weir.Charge{Key: fmt.Sprint("k", i), Meter: m, Cost: 1}, 40)
	}
	if n := drain(b, start, weir.Charge{Key: "another", Meter: m, Cost: 1}); n != 1 {
		t.Errorf("%d passed, want 1", n)
	}
	if n := b.Keys(); n > keys {
		t.Errorf("%d keys are held, want %d at most", n, keys)
	}
}

// TestFloodOfNews: keys that the store is asked for once each neither push out
// those that are known, nor keep out one that comes again.
func TestFloodOfNews(t *testing.T) {
	const keys = 4096
	m := meter(t, "40/h burst 40")
	b := degrade.NewBackstop(degrade.BackstopOptions{Keys: keys})
	tell := func(name string, i int, left int64) weir.Charge {
		c := weir.Charge{Key: fmt.Sprint(name, i), Meter: m, Cost: 1}
		learn(b, start, c, left)
		return c
	}
	for i := range keys * 3 / 4 {
		tell("known", i, 7)
		tell("known", i, 7)
	}
	for i := range 2 * keys {
		tell("random", i, 39)
	}
	for _, others := range []int{0, 20, 2000} {
		again := tell("again", others, 5)
		for i := range others {
			tell("more", i, 39)
		}
		tell("again", others, 5)
		if n := drain(b, start, again); n != 5 {
			t.Errorf("%d passed of who came again after %d others, want 5", n, others)
		}
	}
	const few = 200 // the last; to ask for one that is forgotten has another forgotten
	forgotten := 0
	for i := keys*3/4 - few; i < keys*3/4; i++ {
		switch n := drain(b, start, weir.Charge{Key: fmt.Sprint("known", i), Meter: m, Cost: 1}); n {
		case 7:
		case 1:
			forgotten++
		default:
			t.Fatalf("known%d: %d passed", i, n)
		}
	}
	if forgotten > few/10 {
		t.Errorf("%d of %d are forgotten for a flood", forgotten, few)
	}
}
