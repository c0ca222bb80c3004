package local

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
)

// counter is one that histories use. Its limits differ in count only, as those
// of an override do: algorithm and window are part of a counter's name.
type counter struct {
	key    string
	limits [2]*weir.Meter
}

func counters(t testing.TB) []counter {
	c := func(key, usual, other string) counter {
		return counter{key, [2]*weir.Meter{meter(t, usual), meter(t, other)}}
	}
	return []counter{
		c("gcra", "3/s burst 4", "7/s burst 5"),
		c("odd", "7/3s burst 3", "11/3s burst 6"),
		c("window", "4/2s fixed_window", "9/2s fixed_window"),
		c("sliding", "5/2s", "20/2s"),
		c("log", "3/4s sliding_log", "5/4s sliding_log"),
		c("shaped", "2/s leaky_bucket", "4/s leaky_bucket"),
		c("slow", "2/m gcra", "3/m gcra"),
	}
}

// history plays random requests of some nodes on one store, and compares every
// answer that a tier gave with what the store itself would have said.
type history struct {
	*world
	rnd      *rand.Rand
	nodes    []*node
	counters []counter
	freed    map[string]weir.Micros // by whom another node could not see
	hits     int
	ids      int
	seed     uint64
}

func (h *history) entry() (charges []weir.Charge) {
	n := []int{1, 1, 1, 2, 3}[h.rnd.IntN(5)]
	group := uint8(0)
	if h.rnd.IntN(5) == 0 {
		group = 1
	}
	for _, i := range h.rnd.Perm(len(h.counters))[:n] {
		c := &h.counters[i]
		limit := 0
		if h.rnd.IntN(10) == 0 {
			limit = 1
			h.unseen(c.key) // it may drain faster from now on
		}
		out := weir.Charge{Key: c.key, Meter: c.limits[limit], Cost: h.rnd.Int64N(6)}
		switch h.rnd.IntN(10) {
		case 0:
			out.Mode = weir.Shadow
		case 1:
			out.Mode, out.Group = weir.Always, group
		case 2:
			out.Mode = weir.Peek
		default:
			out.Group = group
		}
		charges = append(charges, out)
	}
	return charges
}

// request sends an entry through a node.
func (h *history) request(n *node) {
	charges, id := h.entry(), ""
	if h.rnd.IntN(10) == 0 {
		h.ids++
		id = fmt.Sprint("id", h.ids)
	}
	e, here := n.decideAs(id, h.rnd.IntN(60) == 0, charges...)
	if !here {
		return
	}
	h.compare(e)
}

// compare asks the store what it would have said. It is not charged by that: it
// has to deny.
func (h *history) compare(e *weir.Entry) {
	same := weir.Entry{Charges: append([]weir.Charge(nil), e.Charges...)}
	for i := range same.Charges {
		c := &same.Charges[i]
		if at, ok := h.freed[c.Key]; ok && h.now < at+believe {
			return // within the bound
		}
		if c.Mode == weir.Always {
			if c.Cost > 0 && c.Meter.Machine != weir.Window {
				h.t.Fatalf("seed %d: a debt was not counted: %+v", h.seed, c)
			}
			c.Mode = weir.Enforce
		}
	}
	h.hits++
	h.submit(&same)
	if same.Admitted || e.Admitted {
		h.t.Fatalf("seed %d, at %d: denied here, admitted by the store: %+v, here %+v", h.seed, h.now, same, e.Outcomes)
	}
	if len(h.nodes) > 1 {
		return // others have taken what is not known here
	}
	for i := range e.Outcomes {
		h.sameWait(&e.Charges[i], &e.Outcomes[i], &same.Outcomes[i])
	}
}

// sameWait holds a denied charge's retry-after against the store's.
func (h *history) sameWait(c *weir.Charge, here, there *weir.Outcome) {
	if here.OK {
		return
	}
	if there.OK {
		h.t.Fatalf("seed %d, at %d: %+v is told not to fit %+v, and fits %+v", h.seed, h.now, c, here, there)
	}
	late := here.RetryAfter - there.RetryAfter
	slack := weir.Micros(0)
	if c.Meter.Machine == weir.Bucket && c.Meter.Den > 1 {
		slack = 1 // two fractions of a microsecond were rounded up
	}
	if late > slack || late < 0 && c.Meter.Machine != weir.Runs {
		h.t.Fatalf("seed %d, at %d: %+v is told %d, the store says %d", h.seed, h.now, c, here.RetryAfter, there.RetryAfter)
	}
}

// refund gives units back through a node; the others do not see it.
func (h *history) refund(n *node) {
	c := h.counters[h.rnd.IntN(len(h.counters))]
	n.decide(weir.Charge{Key: c.key, Meter: c.limits[0], Cost: 1, Mode: weir.Refund})
	h.unseen(c.key)
}

func (h *history) reset(n *node) {
	c := h.counters[h.rnd.IntN(len(h.counters))]
	if err := h.store.Reset(h.t.Context(), c.key); err != nil {
		h.t.Fatal(err)
	}
	n.tier.Forget(c.key)
	h.unseen(c.key)
}

func (h *history) unseen(key string) {
	if len(h.nodes) > 1 {
		h.freed[key] = h.now
	}
}

func (h *history) swap(n *node) {
	n.serial++
	for i := range h.counters {
		c := &h.counters[i]
		c.limits[0], c.limits[1] = c.limits[1], c.limits[0]
	}
}

func (h *history) step() {
	n := h.nodes[h.rnd.IntN(len(h.nodes))]
	switch h.rnd.IntN(31) {
	case 0:
		h.refund(n)
	case 1:
		h.reset(n)
	case 2:
		if len(h.nodes) == 1 { // all at once, or the limits of nodes differ
			h.swap(n)
		}
	case 3:
		h.now += weir.Micros(h.rnd.Int64N(int64(3 * weir.Second)))
	default:
		h.now += weir.Micros(h.rnd.Int64N(int64(25 * weir.Millisecond)))
		h.request(n)
	}
}

// TestNeverDeniesWhatFits: whatever happens, an answer from here is the store's,
// and so is what it says of the wait.
func TestNeverDeniesWhatFits(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			hits := 0
			for seed := range uint64(150) {
				h := newHistory(t, seed, nodes)
				for range 300 {
					h.step()
				}
				hits += h.hits
			}
			if t.Logf("%d answers were compared", hits); hits < 750 {
				t.Error("that is too few")
			}
		})
	}
}

func newHistory(t *testing.T, seed uint64, nodes int) *history {
	h := &history{
		world: newWorld(t), rnd: rand.New(rand.NewPCG(seed, 0)),
		counters: counters(t), freed: map[string]weir.Micros{}, seed: seed,
	}
	for range nodes {
		h.nodes = append(h.nodes, h.node([]int{3, 100}[seed%2]))
	}
	return h
}
