package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/policy"
)

// LeaseGrant is what Lease grants. Rule, Scope, Limit and Remaining are of the
// limit that grants least.
type LeaseGrant struct {
	Granted int64
	// ExpiresAfter is how long the units may be spent, from the instant before
	// the call on: whoever looked at a clock then compares it with no other. 0
	// when nothing is granted.
	ExpiresAfter weir.Micros
	RetryAfter   weir.Micros // when a unit may be granted, if none is; Never
	Remaining    int64

	Rule, Scope   string
	Limit         weir.Limit
	Reason        weir.Reason
	PolicyVersion string
}

// Lease takes up to want units of every limit that applies to r, the same number
// of each, for a caller that spends them by itself. At most a share of the
// smallest limit is granted at a time: see Options.Leases. Limits in shadow are
// not charged.
//
// It is an error when a limit applies that is not leased. No fail mode applies
// either: without the store there is no lease.
func (e *Engine) Lease(ctx context.Context, r *weir.Request, want int64) (LeaseGrant, error) {
	if want < 1 || want > weir.MaxCount {
		return LeaseGrant{}, &weir.Error{Code: weir.CodeInvalid, Field: "want", Message: fmt.Sprintf("%d is outside 1 to %d", want, weir.MaxCount)}
	}
	set, err := e.ready()
	if err != nil {
		return LeaseGrant{}, err
	}
	if e.noLeases {
		return LeaseGrant{}, &weir.Error{Code: weir.CodeInvalid, Field: "policy", Message: "no units are leased here", Hint: "ask about each request with Check"}
	}
	l := leasing{engine: e, began: time.Now(), plan: e.plan(), want: want, wanted: want}
	l.grant.PolicyVersion = set.Version()
	if err := l.resolve(set, r); err != nil {
		return LeaseGrant{}, err
	}
	if l.shut || len(l.charges) == 0 {
		l.answerAtOnce()
		return l.grant, nil
	}
	if err := l.take(ctx, r.Deadline); err != nil {
		return LeaseGrant{}, err
	}
	return l.grant, nil
}

// leasing is one lease on its way.
type leasing struct {
	engine *Engine
	began  time.Time
	plan   policy.Plan
	wanted int64 // by the caller
	want   int64 // as capped
	unit   int64 // what one unit of it is charged
	shut   bool  // a limit of 0 applies

	charges []weir.Charge
	uses    []*policy.Use // one for each charge
	grant   LeaseGrant
}

// resolve finds the limits, and refuses what is not to be leased.
func (l *leasing) resolve(set *policy.Set, r *weir.Request) error {
	for i := range r.Descriptors {
		if d := &r.Descriptors[i]; d.HasCost || d.Refund || d.Spent {
			return &weir.Error{Code: weir.CodeInvalid, Field: "descriptors", Message: "a lease has no costs, refunds or units spent", Hint: "say how many units you want"}
		}
	}
	ask := *r
	// Limits in progress need an id to be resolved, and are then refused; nothing
	// is stored by it.
	ask.Cost, ask.ID = l.want, "lease"
	if err := set.Resolve(&ask, &l.plan); err != nil {
		return err
	}
	l.force()
	l.shut = l.plan.Denied()
	seen := uint64(0) // a bit per charge, of which there are at most 64
	for i := range l.plan.Uses {
		u := &l.plan.Uses[i]
		c := l.plan.Charges[u.Charge]
		if c.Mode == weir.Shadow || u.Rule.Mode == weir.Shadow || c.Cost == 0 {
			continue // watched, or free
		}
		if !u.Rule.Lease || !lease.Leasable(c.Meter) {
			return notLeased(u)
		}
		if seen&(1<<u.Charge) != 0 {
			continue
		}
		seen |= 1 << u.Charge
		if err := l.add(u, c); err != nil {
			return err
		}
	}
	for i := range l.charges {
		l.charges[i].Cost = l.want * l.unit
	}
	return nil
}

// force leaves out what the operator's switch forces.
func (l *leasing) force() {
	s := l.engine.override
	if s == nil || !s.On() {
		return
	}
	all := s.Forced("", "")
	l.plan.Relax(func(r *policy.Rule) bool {
		forced := all || s.Forced(r.Domain, r.ID)
		if forced && r.Mode != weir.Shadow {
			l.grant.Reason = weir.ReasonForced
		}
		return forced
	})
}

// add notes a charge, and caps what is wanted to its share of the limit.
func (l *leasing) add(u *policy.Use, c weir.Charge) error {
	unit := c.Cost / l.wanted
	if l.unit != 0 && unit != l.unit {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "policy", Message: "policies apply that weigh the request differently",
			Hint: "name the policy to lease from, or give them one cost",
		}
	}
	nodes := 1
	if f := l.engine.instances; f != nil {
		nodes = f()
	}
	most := l.engine.leases.Most(c.Meter, nodes) / unit
	if most < 1 {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "policy",
			Message: fmt.Sprintf("limit %s of policy %s is too small to be leased", c.Meter.Limit, u.Rule.ID),
			Hint:    "ask about each request with Check",
		}
	}
	l.unit, l.want = unit, min(l.want, most)
	c.Mode, c.Group = weir.UpTo, 0
	l.charges, l.uses = append(l.charges, c), append(l.uses, u)
	return nil
}

func notLeased(u *policy.Use) error {
	return &weir.Error{
		Code: weir.CodeInvalid, Field: "policy", Message: "policy " + u.Rule.ID + " is not leased",
		Hint: "write lease: auto in the policy, or ask about each request with Check",
	}
}

// answerAtOnce answers where no store is to be asked: a limit of 0, or none.
func (l *leasing) answerAtOnce() {
	g := &l.grant
	if !l.shut {
		g.Granted, g.ExpiresAfter = l.want, l.engine.leases.Life(&weir.Meter{})
		if g.Reason == weir.ReasonNone {
			g.Reason = weir.ReasonNoRule
		}
		return
	}
	g.Reason, g.RetryAfter = weir.ReasonExhausted, weir.Never
	if m := l.plan.Denier(); m != nil {
		g.Rule, g.Scope, g.Limit = m.Rule.ID, m.Rule.Scope, *m.Denies
	}
}
