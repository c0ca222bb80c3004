package degrade

import (
	"slices"

	"github.com/weirlimit/weir/internal/degrade/share"
	"github.com/weirlimit/weir/internal/stage"
)

// desk is the memory that an answer needs.
type desk struct {
	share  share.Desk
	parts  []share.Part
	states []share.State
}

// prepare says into how many shares each limit is cut.
func (d *desk) prepare(b *Backstop, a *stage.Ask) {
	n := len(a.Entry.Charges)
	d.parts = slices.Grow(d.parts[:0], n)[:n]
	d.states = slices.Grow(d.states[:0], n)[:n]
	instances := min(max(b.instances(), 1), share.MaxParts)
	for i := range n {
		d.parts[i] = share.Part{Parts: instances, NoDebt: !a.Hints[i].Spent}
		if a.Hints[i].Strict {
			d.parts[i].Parts, d.parts[i].Starts = instances*b.strict, true
		}
	}
}
