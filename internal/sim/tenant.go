package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
)

// tenant is who asks: its limits, and how it comes.
type tenant struct {
	w        *world
	name     string
	shard    int
	strict   bool  // fails by local
	costs    int64 // of a request, at most
	counters []*counter
	net      *rand.Rand // for its messages
	gen      *rand.Rand // for its requests
	turn     int
	silent   bool
}

// demand is how a tenant comes.
type demand struct {
	every  weir.Micros // on average
	even   bool        // exactly, and to the nodes in turn; by chance if not
	on     weir.Micros // it comes for so long,
	off    weir.Micros // and then not for so long
	only   int         // one node only; -1 for all
	begins weir.Micros
	ends   weir.Micros
}

func (w *world) tenant(costs int64, strict bool, limits ...weir.Limit) (*tenant, error) {
	id := len(w.tenants)
	t := &tenant{
		w: w, name: fmt.Sprintf("tenant %d", id), shard: id % w.shape.shards, strict: strict, costs: costs,
		net: w.stream(1000 + uint64(id)), gen: w.stream(2000 + uint64(id)),
	}
	for i, l := range limits {
		m, err := weir.NewMeter(l)
		if err != nil {
			return nil, err
		}
		c := newCounter(w, fmt.Sprintf("{t%d}%d", id, i), m, t)
		if w.seams.named != nil {
			c.named = w.seams.named(c.key)
		}
		t.counters = append(t.counters, c)
		// The same in every process, so that a run is. The first 16 do not share a
		// part of the sketch of hot keys.
		if c.id = keytable.Numbered(uint32(len(w.byKey))); w.byKey[c.named] == nil {
			w.byKey[c.named] = t
		}
	}
	w.tenants = append(w.tenants, t)
	return t, nil
}

func (t *tenant) counter(named string) *counter {
	for _, c := range t.counters {
		if c.named == named {
			return c
		}
	}
	return t.counters[0]
}

// come makes requests as d says.
func (t *tenant) come(d demand) {
	if d.on == 0 {
		d.on = weir.Never / 2
	}
	gap := d.every
	if !d.even {
		gap = weir.Micros(t.gen.ExpFloat64() * float64(d.every))
	}
	at := max(d.begins, t.w.now) + max(1, gap)
	if d.off > 0 && at%(d.on+d.off) >= d.on { // not now: when it begins again
		at += (d.on + d.off) - at%(d.on+d.off)
	}
	if at >= d.ends {
		return
	}
	d.begins = 0
	t.w.at(at, func() {
		if !t.silent {
			t.request(d)
		}
		t.come(d)
	})
}

func (t *tenant) request(d demand) {
	n := d.only
	if n < 0 {
		if n = t.turn % len(t.w.nodes); !d.even {
			n = t.gen.IntN(len(t.w.nodes))
		}
		t.turn++
	}
	cost := int64(1)
	if t.costs > 1 {
		cost += t.gen.Int64N(t.costs)
	}
	node := t.w.nodes[n]
	node.at(t.w.now, func() { node.check(t, cost, nil) })
}
