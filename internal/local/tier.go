package local

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

// DefaultDenials is how many counters the deny cache knows of unless told. A
// record takes some 200 bytes, from when it is first used.
const DefaultDenials = 1 << 16

// Options says which parts a Tier has. The zero value is a tier that answers
// nothing.
type Options struct {
	// Denials is how many counters the deny cache knows of; 0 or less is no deny
	// cache.
	Denials int
	// Leases; without a store there are none.
	Leases LeaseOptions
}

// Tier is the local tier. Make one with New.
type Tier struct {
	denials *denials // nil when off
	leases  leases   // nil when off
}

// leases spend here what was taken from the store ahead of time.
type leases interface {
	// try answers a as the store would if it can be paid from leases, all of it,
	// and leaves the entry as it was if not.
	try(a *stage.Ask) bool
	// learn is told of an entry that the store answered.
	learn(a *stage.Ask)
	// forget drops what is held of a counter that was reset.
	forget(id keytable.ID)
}

// New returns a tier of the parts that are asked for.
func New(o Options) *Tier {
	t := &Tier{}
	if o.Denials > 0 {
		t.denials = newDenials(o.Denials)
	}
	if o.Leases.Store != nil {
		t.leases = newLeaser(o.Leases)
	}
	return t
}

// Try answers a as the store would, and says from what; or returns false and
// leaves the entry as it was. Of a request with an id the store may hold an
// answer already: it is not answered here.
func (t *Tier) Try(a *stage.Ask) (weir.Source, bool) {
	if a.Entry.ID != "" {
		return weir.SourceStore, false
	}
	// Units in hand are spent although the store has none left: it counts them as
	// spent already.
	if t.leases != nil && t.leases.try(a) {
		return weir.SourceLease, true
	}
	if t.denials != nil && t.denials.try(a) {
		return weir.SourceDenyCache, true
	}
	return weir.SourceStore, false
}

// Learn is told of an entry that the store answered without an error.
func (t *Tier) Learn(a *stage.Ask) {
	if t.denials != nil {
		t.denials.learn(a)
	}
	if t.leases != nil {
		t.leases.learn(a)
	}
}

// Forget drops what is known of a counter, which was reset.
func (t *Tier) Forget(key string) {
	id := keytable.Of(key)
	if t.denials != nil {
		t.denials.forget(id)
	}
	if t.leases != nil {
		t.leases.forget(id)
	}
}
