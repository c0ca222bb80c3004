package engine

import (
	"slices"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/policy"
)

// stages takes the entry past what stands before the store. It returns true
// when that answered it.
func (f *flow) stages(entry *weir.Entry) (decided bool) {
	e := f.engine
	if e.local != nil || e.backstop != nil {
		f.describeAsk(entry)
	}
	// What a tallied plan is told is made of what the store says.
	if e.local != nil && f.req.ID == "" && !f.plan.Tallied {
		if source, ok := e.local.Try(&f.ask); ok {
			f.fill(entry, source)
			if f.shut {
				f.denyOutright()
			}
			return true
		}
	}
	if e.gate != nil {
		if !e.gate.Enter() {
			f.degrade(errOverload)
			if f.shut {
				f.denyOutright()
			}
			return true
		}
		f.inside = true
	}
	return false
}

// errOverload is why a request that the gate keeps out is not decided.
var errOverload = &weir.Error{Code: weir.CodeOverload, Message: "too many requests are under way"}

// leave tells the gate that the store has answered.
func (f *flow) leave() {
	if f.inside {
		f.inside = false
		f.engine.gate.Leave(f.took)
	}
}

// describeAsk makes the entry fit for stages.
func (f *flow) describeAsk(entry *weir.Entry) {
	if !f.hinted {
		f.hintAt(entry)
		f.hinted = true
	}
	f.ask.Now, f.ask.Took, f.ask.Serial = weir.Micros(f.began/time.Microsecond), 0, f.under.serial
	f.ask.Entry, f.ask.Hints = entry, f.hints
}

// hintAt finds out what stages want to know of each charge.
func (f *flow) hintAt(entry *weir.Entry) {
	n := len(entry.Charges)
	hints := slices.Grow(f.hints[:0], n)[:n]
	f.hints = hints
	spread := n > 1 && spansTags(entry.Charges)
	for i := range hints {
		c, h := &entry.Charges[i], &hints[i] // in place: a literal would be copied
		h.ID, h.Rule, h.Lease, h.Frees, h.Spent, h.Strict = keytable.Of(c.Key), -1, true, spread || c.Meter.Machine == weir.Slots, false, false
	}
	for i := range f.plan.Uses {
		u := &f.plan.Uses[i]
		h := &hints[u.Charge]
		if h.Rule < 0 {
			h.Rule = u.Rule.Index
		}
		h.Lease = h.Lease && u.Rule.Lease
		if u.Descriptor < len(f.req.Descriptors) { // a request without any meets the limits for all
			h.Spent = h.Spent || f.req.Descriptors[u.Descriptor].Spent
		}
		h.Strict = h.Strict || u.Rule.Fail == policy.FailLocal
	}
}

// spansTags tells whether the charges may live in several slots: what was
// charged in one is then given back when another denies.
func spansTags(charges []weir.Charge) bool {
	for i := 1; i < len(charges); i++ {
		if key.Tag(charges[i].Key) != key.Tag(charges[0].Key) {
			return true
		}
	}
	return false
}

// learn tells the stages what the store answered.
func (f *flow) learn() {
	if f.ask.Entry == nil {
		return
	}
	f.ask.Took = weir.MicrosOf(f.took)
	if l := f.engine.local; l != nil {
		l.Learn(&f.ask)
	}
	if b := f.engine.backstop; b != nil {
		b.Learn(&f.ask)
	}
}

// forget tells the stages that a counter was reset.
func (e *Engine) forget(name string) {
	if e.local != nil {
		e.local.Forget(name)
	}
	if e.backstop != nil {
		e.backstop.Forget(name)
	}
}
