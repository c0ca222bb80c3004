package admission

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
)

// Wait holds an admitted request back for as long as the leaky bucket says. One
// that would have to wait too long is denied; one whose caller leaves meanwhile
// is refused with the error. Both give back what they were charged, at the End.
func (p *Pass) Wait(ctx context.Context) error {
	d := &p.Decision
	if d.Delay <= 0 || !d.Allowed() {
		return nil
	}
	err := p.gate.wait(ctx, d)
	p.back = err != nil || !d.Allowed()
	return err
}

func (g *Gate) wait(ctx context.Context, d *weir.Decision) error {
	if d.Delay <= 0 || g.settings.MaxDelay < 0 {
		return nil
	}
	if most := weir.MicrosOf(g.settings.MaxDelay); d.Delay > most {
		tooLong(d, most)
		return nil
	}
	if !Sleep(ctx, d.Delay.Duration()) {
		return gone(ctx)
	}
	return nil
}

// tooLong makes the decision a denial by the limit whose delay is longer than
// most. Once the difference has passed, the delay is not.
func tooLong(d *weir.Decision, most weir.Micros) {
	d.Verdict, d.Reason, d.Remaining, d.RetryAfter = weir.Deny, weir.ReasonExhausted, 0, d.Delay-most
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Outcome.Delay != d.Delay || c.Mode == weir.Shadow {
			continue
		}
		if c.Rule != d.Rule {
			d.Scope = "" // the other rule's
		}
		d.Rule, d.Limit, d.ResetAfter = c.Rule, c.Limit, c.Outcome.ResetAfter
		break
	}
	d.Delay = 0
}

// Sleep waits, and tells whether ctx lasted.
func Sleep(ctx context.Context, span time.Duration) bool {
	if span <= 0 {
		return true
	}
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
