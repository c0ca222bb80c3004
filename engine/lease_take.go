package engine

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
)

// take asks the store.
func (l *leasing) take(ctx context.Context, deadline time.Time) error {
	e := l.engine
	if e.gate != nil {
		if !e.gate.Enter() {
			return errOverload
		}
		defer func() { e.gate.Leave(time.Since(l.began)) }()
	}
	b := weir.Batch{Entries: []weir.Entry{{Charges: l.charges}}, Deadline: l.deadline(deadline)}
	e.store.Decide(ctx, &b)
	entry := &b.Entries[0]
	if entry.Err != nil {
		return entry.Err
	}
	least := 0
	for i := range entry.Outcomes {
		if o := &entry.Outcomes[i]; o.Granted < entry.Outcomes[least].Granted ||
			o.Granted == entry.Outcomes[least].Granted && o.Remaining < entry.Outcomes[least].Remaining {
			least = i
		}
	}
	units := entry.Outcomes[least].Granted
	l.grant.Granted = units / l.unit
	l.describe(least, &entry.Outcomes[least])
	l.giveBack(ctx, b.Deadline, units%l.unit)
	if l.grant.Granted > 0 {
		l.expire(entry.Outcomes)
		return nil
	}
	return l.retry(ctx, b.Deadline)
}

// deadline is the earliest of the engine's, the rules' and the request's.
func (l *leasing) deadline(own time.Time) time.Time {
	limit := l.engine.deadline
	if l.plan.Deadline > 0 {
		limit = min(limit, l.plan.Deadline)
	}
	at := l.began.Add(limit)
	if !own.IsZero() && own.Before(at) {
		return own
	}
	return at
}

func (l *leasing) describe(charge int, o *weir.Outcome) {
	u := l.uses[charge]
	l.grant.Rule, l.grant.Scope, l.grant.Limit, l.grant.Remaining = u.Rule.ID, u.Rule.Scope, u.Meter.Limit, o.Remaining
}

// expire says when the lease ends: with the first of its windows. What would end
// before it could be spent is not granted, and comes again with the next window.
func (l *leasing) expire(outcomes []weir.Outcome) {
	g := &l.grant
	for i := range outcomes {
		ends := l.engine.leases.Until(0, l.charges[i].Meter, &outcomes[i])
		if i == 0 || ends < g.ExpiresAfter {
			g.ExpiresAfter = ends
		}
		if ends <= 0 {
			g.Granted, g.ExpiresAfter, g.RetryAfter, g.Reason = 0, 0, max(1, outcomes[i].ResetAfter), weir.ReasonExhausted
			l.describe(i, &outcomes[i])
			return
		}
	}
}

// retry says when a unit may be granted. Taking what is there has no time at
// which it passes, so that is asked for.
func (l *leasing) retry(ctx context.Context, deadline time.Time) error {
	for i := range l.charges {
		l.charges[i].Mode, l.charges[i].Cost = weir.Peek, l.unit
	}
	b := weir.Batch{Entries: []weir.Entry{{Charges: l.charges}}, Deadline: deadline}
	l.engine.store.Decide(ctx, &b)
	entry := &b.Entries[0]
	if entry.Err != nil {
		return entry.Err
	}
	g := &l.grant
	g.Reason, g.RetryAfter = weir.ReasonExhausted, 1 // at once, if it was freed meanwhile
	for i := range entry.Outcomes {
		if o := &entry.Outcomes[i]; o.RetryAfter > g.RetryAfter {
			g.RetryAfter = o.RetryAfter
			l.describe(i, o)
		}
	}
	if g.RetryAfter == weir.Never {
		g.Reason = weir.ReasonTooCostly
	}
	return nil
}

// giveBack returns units that are not enough for a whole one of the caller's.
// When that fails they are lost, as those of a lease that nobody spends.
func (l *leasing) giveBack(ctx context.Context, deadline time.Time, rest int64) {
	if rest == 0 {
		return
	}
	back := make([]weir.Charge, len(l.charges))
	for i, c := range l.charges {
		c.Mode, c.Cost = weir.Refund, rest
		back[i] = c
	}
	b := weir.Batch{Entries: []weir.Entry{{Charges: back}}, Deadline: deadline}
	l.engine.store.Decide(ctx, &b)
	if o := b.Entries[0].Outcomes; b.Entries[0].Err == nil && len(o) > 0 {
		l.grant.Remaining += rest
	}
}
