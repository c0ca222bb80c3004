package local

import (
	"sync/atomic"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

// denials is the deny cache. An entry is denied as a whole and then charges
// nothing, so one counter that is known to be used up decides it, whatever is
// known of the others:
//
//	mode     known to be used up    otherwise
//	Enforce  denies                 is told as last known
//	Peek     denies                 is told as last known
//	Shadow   is told                is told as last known
//	Always   denies                 the store is asked: it has to count
//	Refund, UpTo                    the store is asked
//
// A group denies when all of its members are used up. A cost of 0 fits always.
//
// An Always charge counts on when it is denied. Of a fixed window that has
// nothing left more units change no answer before it ends, and need not be
// counted, as envoyproxy/ratelimit's own cache does not; of all other limits,
// and where a caller reports what was spent, they are a debt, and the store is
// asked.
//
// A counter with two names, while salts change, is known by the one that comes
// first. A denied charge writes under neither name, so nothing is missed by not
// asking; at the instant at which the names change places it is not known.
type denials struct {
	table *keytable.Table[record]
	// horizon is the instant at which no denial holds any more: while there is
	// none at all, a request that passes costs one load.
	horizon atomic.Int64
}

func newDenials(capacity int) *denials {
	return &denials{table: keytable.New[record](capacity)}
}

// verdicts are the charges of an entry, one bit each: weir.MaxCharges is 64.
type verdicts struct {
	denied  uint64 // known not to fit
	unknown uint64 // of which nothing is known
}

// try denies a, or returns false.
func (d *denials) try(a *stage.Ask) bool {
	if int64(a.Now) >= d.horizon.Load() {
		return false
	}
	e := a.Entry
	v, ok := d.consult(a)
	by := -1
	if ok {
		by = v.deniedBy(e.Charges)
	}
	if by < 0 || v.unknown != 0 && d.look(a, by) {
		e.Outcomes = e.Outcomes[:0]
		return false
	}
	e.Admitted, e.Replayed = false, false
	return true
}

// consult fills the outcomes with what is known. It returns false when the
// store has to be asked.
func (d *denials) consult(a *stage.Ask) (v verdicts, ok bool) {
	e := a.Entry
	e.Outcomes = e.Outcomes[:0]
	for i := range e.Charges {
		c := &e.Charges[i]
		if c.Mode == weir.Refund || c.Mode == weir.UpTo {
			return v, false
		}
		e.Outcomes = append(e.Outcomes, weir.Outcome{})
		o := &e.Outcomes[i]
		d.charge(a, i, o, &v)
		if c.Mode == weir.Always && c.Cost > 0 &&
			(v.denied&(1<<i) == 0 || c.Meter.Machine != weir.Window || o.Remaining > 0 || a.Hints[i].Spent) {
			return v, false
		}
	}
	return v, true
}

// charge fills o with what is known of the i-th charge.
func (d *denials) charge(a *stage.Ask, i int, o *weir.Outcome, v *verdicts) {
	c := &a.Entry.Charges[i]
	s := d.table.Lock(a.Hints[i].ID)
	r := s.Find(a.Hints[i].ID)
	switch {
	case r == nil || !r.of(a, c):
		v.unknown |= 1 << i
		tellUnused(c, o)
	case r.denies(c, a.Now):
		v.denied |= 1 << i
		r.tellDenied(c, a.Now, o)
	case a.Now < r.known:
		r.tell(c, a.Now, o)
	default:
		v.unknown |= 1 << i
		tellUnused(c, o)
	}
	s.Unlock()
}

// deniedBy returns a charge that denies the entry, or -1.
func (v verdicts) deniedBy(charges []weir.Charge) int {
	if v.denied == 0 {
		return -1
	}
	for i := range charges {
		c := &charges[i]
		if v.denied&(1<<i) != 0 && c.Mode != weir.Shadow && (c.Group == 0 || v.deniesGroup(charges, c.Group)) {
			return i
		}
	}
	return -1
}

func (v verdicts) deniesGroup(charges []weir.Charge, group uint8) bool {
	for i := range charges {
		if charges[i].Group == group && v.denied&(1<<i) == 0 {
			return false
		}
	}
	return true
}

// maxLooks is how many requests a second of one exhausted counter go to the
// store for the sake of their other counters, of which nothing is known here.
const maxLooks = 8

// look tells whether a request that its by-th charge denies goes to the store,
// so that what it is told of its other counters is right. The first few do; the
// rest is told that nothing is in use of those. A flood that comes with a new
// address each time has only such, and must not cost a call each.
func (d *denials) look(a *stage.Ask, by int) bool {
	s := d.table.Lock(a.Hints[by].ID)
	defer s.Unlock()
	r := s.Find(a.Hints[by].ID)
	if r == nil {
		return true
	}
	if a.Now-r.looksFrom >= weir.Second {
		r.looksFrom, r.looks = a.Now, 0
	}
	if r.looks >= maxLooks {
		return false
	}
	r.looks++
	return true
}
