package sim

import (
	"github.com/weirlimit/weir"
)

// heardOf is what a node last heard from the store of a counter. From then on its
// backstop lets through no more than its share of what was left, and its share of
// the rate:
//
//	let through <= min(share, left/nodes) + rate/nodes x T
//
// One that has never heard has its share. That is what keeping it warm means: a
// burst that the store has given out is not given out again.
type heardOf struct {
	at   weir.Micros // by the node's clock; 0 for never
	left int64
	gave int64 // since

	answered weir.Micros // the latest request that the backstop answered
}

func (c *counter) heard(n *node, at weir.Micros, left int64) {
	h := &c.heards[n.id]
	switch {
	case at < h.at: // was overtaken
	case at < h.answered: // perhaps: it counts if it says that there is more
		*h = heardOf{at: at, left: max(left, h.left), answered: h.answered}
	default:
		*h = heardOf{at: at, left: left, answered: h.answered}
	}
}

// room is what the node's backstop may have let through by now, since it heard.
func (h *heardOf) room(c *counter, n *node) float64 {
	if h.at == 0 {
		return c.share()
	}
	share := max(1, c.meter.Capacity/c.parts)
	// A request that is larger than the share passes when nothing is in use.
	large := max(0, min(c.costs, c.meter.Capacity)-share)
	return float64(min(share, h.left/c.parts)+large) + c.perUs/float64(c.parts)*float64(n.now()-h.at)
}

func (h *heardOf) stoodIn(c *counter, n *node, cost int64) {
	h.gave += cost
	if h.at == 0 {
		return // bound counts a share
	}
	if over := float64(h.gave) - h.room(c, n); over > 1e-6 {
		c.w.fail("warm", "%s (%s): node %d let %d through for the store, %.1f more than its share of what it heard was left, %d",
			c.key, c.meter.Limit, n.id, h.gave, over, h.left)
	}
}
