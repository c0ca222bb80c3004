package sim

import (
	"math"

	"github.com/weirlimit/weir"
)

// bound checks, for every stretch of time T that begins and ends with an
// admission, that
//
//	admitted <= burst x (1 + losses) + rate x T + nodes x L + stand-ins
//
//	losses     how often within T, or a deadline before it, the store forgot
//	           something of the counter, or its clock was set forward: each
//	           makes the store begin a burst anew, and no more than one
//	nodes x L  what all nodes may hold in leases: charged before T, spent in it
//	stand-ins  for each outage of a node (backstop answers that are not more than
//	           a second apart) that touches T: its share of what it last heard
//	           to be left, never more than its share of the burst, and its share
//	           of the rate for as long as the outage lasts. All nodes without
//	           the store are so a burst at most, and the rate. The rate of the
//	           store goes on meanwhile, because it may be there for others.
//
// The instant of an admission is when the caller is told, up to a deadline after
// the store charged for it: T is longer by that. Clocks may drift, and a rate is
// that of the fastest.
//
// It does so in passing: with A the units admitted so far and G the allowance so
// far, A - G may rise by no more than the constant part above its lowest. What
// touches an end of a stretch counts in full: G has one value for stretches that
// begin now, and another for those that end.
type bound struct {
	c     *counter
	flat  float64 // burst + nodes x L + rate x deadline
	total float64 // A
	low   float64 // the least A - G at which a stretch began
	burst float64
	rate  float64

	lossesAt []weir.Micros
	outages  []outage // per node: the last
	ended    float64  // what stand-ins were allowed in outages before those
	allowed  float64  // the same, and in those
}

type outage struct {
	began, last weir.Micros
	heard       weir.Micros // what the room is of
	room        float64     // that the node had, all told
	lasted      float64     // units that its share of the rate comes to
}

// apart is how far two answers of a backstop are apart that are of two outages.
const apart = weir.Second

// fastest is what a microsecond may be by another's clock.
const fastest = 1 + 2*maxDrift/1e6

func (b *bound) open(c *counter) {
	b.c = c
	b.burst, b.rate = burstAndRate(c.meter)
	b.rate *= fastest
	b.flat = b.burst + float64(c.most)*float64(c.w.shape.nodes) + b.rate*float64(patience)
	b.low = math.Inf(1)
	b.outages = make([]outage, c.w.shape.nodes)
}

func (b *bound) lost(now weir.Micros) { b.lossesAt = append(b.lossesAt, now) }

// stoodIn notes an answer of a node's backstop.
func (b *bound) stoodIn(n *node, now weir.Micros) {
	o, h := &b.outages[n.id], &b.c.heards[n.id]
	if o.began == 0 || now-o.last > apart {
		b.ended += o.room + o.lasted
		*o = outage{began: max(now, 1), last: now, heard: -1}
	}
	more := b.c.perUs / float64(b.c.parts) * fastest * float64(now-o.last)
	o.lasted, o.last = o.lasted+more, now
	if o.heard != h.at { // it has heard since, perhaps that there is more
		room := min(b.c.share(), o.room+h.room(b.c, n))
		more += room - o.room
		o.room, o.heard = room, h.at
	}
	b.allowed += more
}

// before is what stand-ins were allowed that is of no use to a stretch which
// begins now. In an outage that is not over, a node may still have what it was
// allowed, up to its share.
func (b *bound) before(now weir.Micros) float64 {
	n := b.ended
	for i := range b.outages {
		o := &b.outages[i]
		used := o.room + o.lasted
		if now-o.last <= apart {
			used -= b.c.share()
		}
		n += max(0, used)
	}
	return n
}

// losses is how many there were until an instant.
func (b *bound) losses(until weir.Micros) (n float64) {
	for _, at := range b.lossesAt {
		if at <= until {
			n++
		}
	}
	return n
}

func (b *bound) admitted(now weir.Micros, cost int64) {
	start := b.rate*float64(now) + b.burst*b.losses(now-patience) + b.before(now)
	b.low = min(b.low, b.total-start)
	b.total += float64(cost)
	end := b.rate*float64(now) + b.burst*b.losses(now) + b.allowed
	if over := b.total - end - b.low - b.flat; over > 1e-6 {
		b.c.w.fail("bound", "%s (%s): %.1f units more than %.1f were admitted beyond the rate, %v losses and %.1f of stand-ins allowed for",
			b.c.key, b.c.meter.Limit, over, b.flat, b.losses(now), b.allowed)
	}
}
