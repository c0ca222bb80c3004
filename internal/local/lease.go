package local

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/stage"
)

// What LeaseOptions say when they say nothing.
const (
	DefaultHotRate   = 50
	DefaultLeaseKeys = 4096
)

// maxLeaseCharges is how many counters may be paid from leases at once: of a
// request with more the store is asked.
const maxLeaseCharges = 8

// maxWishes is how many leases may be asked for at once. A node has some
// hundred hot keys at most, and each is asked for every refresh interval.
const maxWishes = 64

// LeaseOptions says how units are taken ahead. Without a Store none are, and
// nothing is counted either.
type LeaseOptions struct {
	Store weir.Store
	// Config is how much is taken; zeros are the defaults of package lease.
	Config lease.Config
	// Instances is how many nodes share the limits, this one included. It is
	// asked for each lease and must not block; nil is 1.
	Instances func() int
	// HotRate is how many requests a second of one key, at this node, make it one
	// to be leased. 0 is DefaultHotRate.
	HotRate float64
	// Watch has the keys asked for most found, and none leased.
	Watch bool
	// Keys is how many keys are held at most; 0 is DefaultLeaseKeys. A record
	// takes some 350 bytes and the key.
	Keys int
	// Told, when not nil, is told what the store answered to a wish for a lease: a
	// backstop would otherwise hear no more of a counter that is paid from leases.
	Told func(*stage.Ask)
	// Chance is what decides which requests are counted; nil is the runtime's. A
	// simulation has its own.
	Chance func() uint32

	countAll bool // for tests: no sampling
}

// leaser spends units that were taken ahead:
//
//	                hot, and the store       granted
//	asks the store  ---- admitted one ---->  spends here ---+
//	      ^                                     ^           | 20% left,
//	      |   used up, ended, reset,            |           | still hot
//	      +-- another limit <-------------------+-----------+
//
// A request is paid from here when all its charges can be, and else not at all.
// The lock of one holding is held at a time: what was taken from the first is
// given back when the second lacks.
type leaser struct {
	store     weir.Store
	config    lease.Config
	instances func() int
	told      func(*stage.Ask)
	table     *keytable.Table[holding]
	hot       *hotKeys
	watch     bool
	countAll  bool
	chance    func() uint32
	wishes    chan *wish // those that are not under way
	totals    leaseTotals

	// The clock of asks, for who has none: the time since began and offset.
	began  time.Time
	offset atomic.Int64
}

var _ leases = (*leaser)(nil)

func newLeaser(o LeaseOptions) *leaser {
	if o.HotRate <= 0 {
		o.HotRate = DefaultHotRate
	}
	if o.Keys <= 0 {
		o.Keys = DefaultLeaseKeys
	}
	if o.Instances == nil {
		o.Instances = func() int { return 1 }
	}
	if o.Chance == nil {
		o.Chance = rand.Uint32
	}
	l := &leaser{
		store: o.Store, config: o.Config.Settle(), instances: o.Instances, told: o.Told,
		table: keytable.New[holding](o.Keys), hot: newHotKeys(o.HotRate), watch: o.Watch, countAll: o.countAll,
		chance: o.Chance, wishes: make(chan *wish, maxWishes), began: time.Now(),
	}
	for range maxWishes {
		l.wishes <- newWish(l)
	}
	return l
}

// try pays a from leases.
func (l *leaser) try(a *stage.Ask) bool {
	if l.watch || !leasable(a) {
		l.count(a)
		return false
	}
	var ends [maxLeaseCharges]weir.Micros
	e, more := a.Entry, false
	n := len(e.Charges)
	e.Outcomes = slices.Grow(e.Outcomes[:0], n)[:n] // spend fills each
	for i := range e.Charges {
		until, wants, ok := l.spend(a, i)
		if !ok {
			l.undo(a, ends[:i])
			e.Outcomes = e.Outcomes[:0]
			l.count(a)
			return false
		}
		ends[i], more = until, more || wants
	}
	e.Admitted, e.Replayed = true, false
	if more {
		l.acquire(a)
	}
	return true
}

// spend pays the i-th charge.
func (l *leaser) spend(a *stage.Ask, i int) (until weir.Micros, wants, ok bool) {
	c, id := &a.Entry.Charges[i], a.Hints[i].ID
	s := l.table.Lock(id)
	defer s.Unlock()
	h := s.Find(id)
	if h == nil || !h.of(a, c) && !h.renew(a, c) {
		return 0, false, false
	}
	if c.Cost > c.Meter.Capacity { // nobody has so much: it says nothing of how much is needed
		return 0, false, false
	}
	h.sizer.Ask(c.Cost)
	until, ok = h.take(a.Now, c.Cost)
	if !ok {
		return 0, false, false
	}
	h.requests++
	h.tell(c, a.Now, &a.Entry.Outcomes[i])
	return until, h.wants(a.Now), true
}

// undo gives back what the first charges paid.
func (l *leaser) undo(a *stage.Ask, ends []weir.Micros) {
	for i, until := range ends {
		id := a.Hints[i].ID
		s := l.table.Lock(id)
		if h := s.Find(id); h != nil {
			h.requests = max(0, h.requests-1) // the sketch may have been told of it already
			h.giveBack(a.Entry.Charges[i].Cost, until)
		}
		s.Unlock()
	}
}

// leasable tells whether all charges of a are of a kind that can be paid from
// leases.
func leasable(a *stage.Ask) bool {
	charges := a.Entry.Charges
	if len(charges) > maxLeaseCharges {
		return false
	}
	for i := range charges {
		c := &charges[i]
		if !a.Hints[i].Lease || a.Hints[i].Spent || c.Mode != weir.Enforce || c.Group != 0 || c.Twinning != weir.TwinNone ||
			c.Cost <= 0 || !lease.Leasable(c.Meter) {
			return false
		}
	}
	return true
}

// sample is of how many requests that are not paid from here one is counted, as
// so many: counting a key that is seldom seen costs as much as deciding it. A
// count of n is then off by the square root of 7n, as a standard deviation.
const sample = 8

// count tells the sketch of a request.
func (l *leaser) count(a *stage.Ask) {
	n := 1.0
	if !l.countAll {
		if l.chance()%sample != 0 {
			return
		}
		n = sample
	}
	for i := range a.Entry.Charges {
		l.hot.add(a.Hints[i].ID, a.Entry.Charges[i].Key, n, a.Now)
	}
}

// learn takes the first lease of a key that is hot and has units left.
func (l *leaser) learn(a *stage.Ask) {
	if a.Entry.ID != "" {
		l.count(a) // was not tried
	}
	if l.watch || a.Entry.Replayed || !leasable(a) {
		return
	}
	for i := range a.Entry.Charges {
		l.hear(a, i)
	}
	if a.Entry.Admitted {
		l.acquire(a)
	}
}

// hear takes over what the store said of the i-th charge, if anything is held.
func (l *leaser) hear(a *stage.Ask, i int) {
	id := a.Hints[i].ID
	s := l.table.Lock(id)
	defer s.Unlock()
	if h := s.Find(id); h != nil && h.of(a, &a.Entry.Charges[i]) {
		h.hear(a.Now, a.Entry.Now, &a.Entry.Outcomes[i])
	}
}

// forget loses what is held of a counter that was reset: the counter does not
// know of it any more.
func (l *leaser) forget(id keytable.ID) {
	s := l.table.Lock(id)
	defer s.Unlock()
	if h := s.Find(id); h != nil {
		h.drop()
		h.turn++ // what is under way was charged before
		h.busy, h.resetAt = false, 0
	}
}

// now is the time of asks.
func (l *leaser) now() weir.Micros {
	return weir.Micros(time.Since(l.began).Microseconds() + l.offset.Load())
}
