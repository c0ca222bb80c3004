package memstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/memstore"
)

// reference is a store as simple as can be: a map of states and algo.
type reference struct {
	states  map[string]*algo.State
	answers map[algo.Owner]weir.Entry
}

func newReference() *reference {
	return &reference{states: map[string]*algo.State{}, answers: map[algo.Owner]weir.Entry{}}
}

func (r *reference) decide(e *weir.Entry, now weir.Micros) {
	owner, replays, _ := algo.ReplayOwner(e, nil)
	if first, ok := r.answers[owner]; replays && ok && now-first.Now < algo.ReplayWindow {
		e.Outcomes, e.Admitted, e.Now, e.Replayed = first.Outcomes, first.Admitted, first.Now, true
		return
	}
	states := make([]algo.State, len(e.Charges))
	for i, c := range e.Charges {
		if st := r.states[c.Key]; st != nil {
			b := algo.AppendState(nil, stored(st), st)
			if err := algo.ParseState(b, c.Meter, &states[i]); err != nil {
				panic(err)
			}
		}
	}
	e.Outcomes = make([]weir.Outcome, len(e.Charges))
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, now, e.Outcomes)
	e.Now = now
	for i, c := range e.Charges {
		switch st := &states[i]; {
		case !st.Dirty:
		case st.Used == 0:
			delete(r.states, c.Key)
		default:
			r.states[c.Key] = st
		}
	}
	if replays && algo.Remembered(e.Admitted, e.Outcomes) {
		r.answers[owner] = *e
	}
}

// stored is a meter of the machine that wrote the state.
func stored(st *algo.State) *weir.Meter { return &weir.Meter{Machine: weir.Machine(st.Mark >> 14)} }

// history makes random requests to a few keys.
type history struct {
	*rand.Rand
	keys   []string
	meters []*weir.Meter
	// changing: a key has all limits in turn, and the clock stays within the
	// minute for which a store keeps what expired under one limit and counts
	// under another. Otherwise a key has one limit, and the clock goes far.
	changing bool
	behind   weir.Micros // how far the clock is behind the latest it has been
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{Rand: rand.New(rand.NewPCG(seed, 0))}
	for _, n := range []int{1, 8, 9, 30, 79, 80, 81, 255, 256, 5000} {
		h.keys = append(h.keys, strings.Repeat("k", n-1)+"a", strings.Repeat("k", n-1)+"b")
	}
	for _, text := range []string{
		"5/s burst 10", "7/3s burst 10", "1/d gcra", "100/m token_bucket", "3/s burst 5 leaky_bucket",
		"10/m fixed_window", "20/30s fixed_window", "10/m", "100/30s", "300/h", "8/m sliding_log", "30/m sliding_log",
		"4 concurrency 30s", "9 concurrency 1m",
	} {
		h.meters = append(h.meters, meter(t, text))
	}
	return h
}

// charge returns a key and a meter for it.
func (h *history) charge() weir.Charge {
	i := h.IntN(len(h.keys))
	m := i % len(h.meters)
	if h.changing {
		m = h.IntN(len(h.meters))
	}
	return weir.Charge{Key: h.keys[i], Meter: h.meters[m]}
}

// entry returns a valid entry.
func (h *history) entry() weir.Entry {
	for {
		var e weir.Entry
		if h.IntN(2) == 0 {
			e.ID = fmt.Sprint("id", h.IntN(15))
		}
		n := 1
		if h.IntN(3) == 0 {
			n += h.IntN(6)
		}
		upTo := h.IntN(10) == 0
		for range n {
			c := h.charge()
			c.Cost, c.Mode = int64(h.IntN(4)), weir.Mode(h.IntN(int(weir.UpTo)))
			if h.IntN(8) == 0 {
				c.Cost = int64(h.IntN(120))
			}
			if upTo {
				c.Mode = weir.UpTo
			}
			if c.Mode == weir.Enforce || c.Mode == weir.Always {
				c.Group = uint8(h.IntN(3))
			}
			e.Charges = append(e.Charges, c)
		}
		if e.Validate() == nil {
			return e
		}
	}
}

// step is how far the clock moves: mostly little, at times far, or back, but
// never a minute behind what it was, for which a store keeps what expired.
func (h *history) step() weir.Micros {
	by := h.jump()
	if h.behind-by >= weir.Minute {
		by = 0
	}
	h.behind = max(0, h.behind-by)
	return by
}

func (h *history) jump() weir.Micros {
	if h.changing {
		return weir.Micros(h.Int64N(int64(60*weir.Millisecond))) - 10*weir.Millisecond
	}
	switch h.IntN(20) {
	case 0:
		return weir.Micros(h.Int64N(int64(20 * weir.Minute)))
	case 1:
		return -weir.Micros(h.Int64N(int64(weir.Minute)))
	case 2, 3, 4, 5, 6:
		return 0
	}
	return weir.Micros(h.Int64N(int64(2 * weir.Second)))
}

func TestParityWithAlgo(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h := newHistory(t, seed)
			h.changing = seed%2 == 0
			clock := newTestClock()
			store, ref := memstore.New(clock.option()), newReference()
			for range 1500 {
				clock.move(h.step())
				entries := make([]weir.Entry, 1+h.IntN(3))
				want := make([]weir.Entry, len(entries))
				for i := range entries {
					entries[i] = h.entry()
					want[i] = entries[i]
					ref.decide(&want[i], clock.now())
				}
				for i, got := range decide(t, store, entries...) {
					compare(t, got, want[i])
				}
				if h.IntN(20) == 0 {
					key := h.keys[h.IntN(len(h.keys))]
					delete(ref.states, key)
					if err := store.Reset(context.Background(), key); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

func compare(t *testing.T, got, want weir.Entry) {
	t.Helper()
	if got.Err != nil || got.Admitted != want.Admitted || got.Replayed != want.Replayed || got.Now != want.Now ||
		!slices.Equal(got.Outcomes, want.Outcomes) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func TestReadIsPeek(t *testing.T) {
	h := newHistory(t, 99)
	h.changing = true
	clock := newTestClock()
	store, ref := memstore.New(clock.option()), newReference()
	for range 2000 {
		clock.move(h.step())
		e := h.entry()
		want := e
		ref.decide(&want, clock.now())
		compare(t, decide(t, store, e)[0], want)
		c := h.charge()
		key, m := c.Key, c.Meter
		var st algo.State
		if held := ref.states[key]; held != nil && held.Mark>>14 == m.Mark>>14 {
			st = *held
		}
		peek, _ := algo.Peek(m, st, clock.now(), 0, nil)
		got, err := store.Read(context.Background(), key, m)
		if err != nil || got != peek {
			t.Fatalf("Read says %+v, %v, want %+v", got, err, peek)
		}
	}
}
