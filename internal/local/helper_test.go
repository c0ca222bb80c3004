package local

import (
	"context"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/memstore"
)

// world is a store on a clock that stands still between two steps.
type world struct {
	t     testing.TB
	now   weir.Micros
	store *memstore.Store
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, now: 1_700_000_041 * weir.Second} // a second past the minute
	w.store = memstore.New(memstore.WithMaxKeys(10_000), memstore.WithClock(func() weir.Micros { return w.now }))
	return w
}

// node is a process before that store: what the engine does with a tier.
type node struct {
	*world
	tier   *Tier
	start  weir.Micros
	serial uint32
	asked  int // times that the store was
	entry  weir.Entry
	ask    stage.Ask
}

func (w *world) node(capacity int) *node {
	return &node{world: w, tier: New(Options{Denials: capacity}), start: w.now - weir.Second, serial: 1}
}

// prepare makes an ask as the engine does, but that a test says what is freed.
func (n *node) prepare(id string, frees bool, charges []weir.Charge) *stage.Ask {
	n.entry = weir.Entry{Charges: charges, ID: id, Outcomes: n.entry.Outcomes[:0]}
	n.ask = stage.Ask{Now: n.now - n.start, Serial: n.serial, Entry: &n.entry, Hints: n.ask.Hints[:0]}
	for i := range charges {
		n.ask.Hints = append(n.ask.Hints, stage.Hint{
			ID: keytable.Of(charges[i].Key), Frees: frees || charges[i].Meter.Machine == weir.Slots,
		})
	}
	return &n.ask
}

// decide takes an entry through the tier and, if that does not answer, through
// the store. here tells which.
func (n *node) decide(charges ...weir.Charge) (e *weir.Entry, here bool) {
	n.t.Helper()
	return n.decideAs("", false, charges...)
}

func (n *node) decideAs(id string, frees bool, charges ...weir.Charge) (e *weir.Entry, here bool) {
	n.t.Helper()
	a := n.prepare(id, frees, charges)
	if source, ok := n.tier.Try(a); ok {
		if source != weir.SourceDenyCache {
			n.t.Fatalf("answered from %s", source)
		}
		return a.Entry, true
	}
	if len(a.Entry.Outcomes) != 0 {
		n.t.Fatalf("not answered, and yet %+v", a.Entry.Outcomes)
	}
	n.asked++
	n.submit(a.Entry)
	n.tier.Learn(a)
	return a.Entry, false
}

// submit asks the store itself.
func (w *world) submit(e *weir.Entry) {
	w.t.Helper()
	b := weir.Batch{Entries: []weir.Entry{*e}}
	w.store.Decide(context.Background(), &b)
	if *e = b.Entries[0]; e.Err != nil {
		w.t.Fatal(e.Err)
	}
}

func meter(t testing.TB, text string) *weir.Meter {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return weir.MustMeter(l)
}

// charge is one of mode Enforce.
func charge(t testing.TB, key, limit string, cost int64) weir.Charge {
	return weir.Charge{Key: key, Meter: meter(t, limit), Cost: cost}
}

func with(mode weir.Mode, c weir.Charge) weir.Charge {
	c.Mode = mode
	return c
}

func grouped(group uint8, c weir.Charge) weir.Charge {
	c.Group = group
	return c
}
