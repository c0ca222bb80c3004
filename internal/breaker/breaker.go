package breaker

import "github.com/weirlimit/weir"

// Breaker stands before one shard. Make one with New. Instants are of a
// monotonic clock whose zero is anywhere in the past; one that goes back is held
// at the latest seen.
//
//	         Consecutive failures, or more than MaxShare
//	+--------+ ----------------------------------> +------+
//	| closed |                                     | open | <---+
//	+--------+                                     +------+     |
//	    ^                                             |         | the probe fails, or is
//	    |                the cooldown is over, or the |         | not heard of: the
//	    |                topology changed: one probe  |         | cooldown doubles
//	    |                                             v         |
//	    |     the probe succeeds                +-----------+   |
//	    +---------------------------------------| half-open |---+
//	                                            +-----------+
//
// It closes by a successful probe and in no other way.
type Breaker struct {
	conf  Config
	state weir.BreakerState
	now   weir.Micros // the latest seen

	run     int         // weight of the failures since the last success, while closed
	since   weir.Micros // when the first of them was heard of
	history window

	cooldown weir.Micros // of the present opening, without jitter
	until    weir.Micros // open: when the next probe is due; half-open: when the probe is given up
	probe    Ticket      // the one in flight; 0 when none is
	issued   Ticket      // the last probe's
}

// Ticket is what Allow gives out with a call and Done takes back. Zero is an
// ordinary call; any other is a probe's, and each probe has its own, so that one
// which was given up cannot speak for the next.
type Ticket uint32

// Probe tells whether the call is a probe.
func (t Ticket) Probe() bool { return t != 0 }

// New makes a closed Breaker.
func New(c Config) *Breaker {
	c = c.withDefaults()
	return &Breaker{conf: c, cooldown: c.Cooldown}
}

// State returns what the last event left. An open breaker whose cooldown is
// over is open until somebody calls.
func (b *Breaker) State() weir.BreakerState { return b.state }

// Due tells whether the next Allow lets a probe through.
func (b *Breaker) Due(now weir.Micros) bool {
	return b.state != weir.BreakerClosed && b.probe == 0 && max(b.now, now) >= b.until
}

// Allow tells whether a call may be sent now. A call with a probe's ticket must
// be followed by Done or Forget; for others that is useful and not required.
func (b *Breaker) Allow(now weir.Micros) (t Ticket, ok bool) {
	if b.state == weir.BreakerClosed {
		return 0, true
	}
	now = b.tick(now)
	if b.probe != 0 && now >= b.until {
		b.reopen(now)
	}
	if b.probe != 0 || now < b.until {
		return 0, false
	}
	b.state = weir.BreakerHalfOpen
	b.issued++
	if b.issued == 0 { // went round
		b.issued++
	}
	b.probe, b.until = b.issued, now+b.conf.ProbeFor
	return b.probe, true
}

// Overdue is for how long the next call could have been a probe, or nothing was
// heard of the one that is away; 0 while neither is so.
func (b *Breaker) Overdue(now weir.Micros) weir.Micros {
	if b.state == weir.BreakerClosed {
		return 0
	}
	return max(0, max(b.now, now)-b.until)
}

// Done tells what became of one call that Allow let through.
func (b *Breaker) Done(now weir.Micros, t Ticket, failed bool) {
	switch {
	case !t.Probe():
		if failed {
			b.Count(now, 0, 1, 1)
		} else {
			b.Count(now, 1, 0, 0)
		}
	case t != b.probe: // was given up
	case failed:
		b.reopen(b.tick(now))
	default:
		b.close(now)
	}
}

// PerEvent is the most that the calls which one event failed, such as a
// connection that broke, should weigh together: below half of what opens it, so
// that two of them at once do not.
func (b *Breaker) PerEvent() int { return max(1, (b.conf.Consecutive-1)/2) }

// Count tells what became of several calls that were not probes: those that
// succeeded came first. Weight is how many failures those that failed are
// evidence of: fewer than failed, where one event took several. The share is of
// calls, whatever they weigh. What is heard while it is not closed is of calls
// that were sent before it opened, and changes nothing.
func (b *Breaker) Count(now weir.Micros, succeeded, failed, weight int) {
	if b.state != weir.BreakerClosed {
		return
	}
	now = b.tick(now)
	if succeeded > 0 {
		b.run = 0
	}
	if b.run == 0 {
		b.since = now
	}
	b.run += weight
	b.history.add(now, bucket{int64(succeeded + failed), int64(failed), int64(weight)})
	if failed > 0 && b.tooMany() {
		b.cooldown = b.conf.Cooldown
		b.open(now)
	}
}

// Forget tells that a call said nothing about the shard: it was not sent after
// all, or its caller gave up. If it was the probe, the next call is one.
func (b *Breaker) Forget(now weir.Micros, t Ticket) {
	if t.Probe() && t == b.probe {
		b.probe, b.until = 0, b.tick(now)
	}
}

// TopologyChanged makes the next call a probe: who is asked now may be another
// server. A probe that is away was sent to the old one and is given up. What was
// learned about the old one's outage, the cooldown, is forgotten.
func (b *Breaker) TopologyChanged(now weir.Micros) {
	if b.state == weir.BreakerClosed {
		return
	}
	b.probe, b.until = 0, b.tick(now)
	b.cooldown = b.conf.Cooldown
	b.state = weir.BreakerOpen
}

func (b *Breaker) tooMany() bool {
	h := &b.history
	return b.run >= b.conf.Consecutive && b.now-b.since >= b.conf.Span ||
		h.sum.calls >= int64(b.conf.MinCalls) && h.sum.weight >= int64(b.conf.MinFailures) &&
			float64(h.sum.failures) > b.conf.MaxShare*float64(h.sum.calls)
}

// open starts a cooldown.
func (b *Breaker) open(now weir.Micros) {
	wait := b.cooldown
	if b.conf.Jitter != nil {
		wait += weir.Micros(jitterShare * b.conf.Jitter() * float64(b.cooldown))
	}
	b.state, b.probe, b.until = weir.BreakerOpen, 0, now+wait
}

// reopen is open after a failed probe.
func (b *Breaker) reopen(now weir.Micros) {
	b.cooldown = min(2*b.cooldown, b.conf.MaxCooldown)
	b.open(now)
}

func (b *Breaker) close(now weir.Micros) {
	*b = Breaker{conf: b.conf, now: b.tick(now), cooldown: b.conf.Cooldown, issued: b.issued}
}

func (b *Breaker) tick(now weir.Micros) weir.Micros {
	b.now = max(b.now, now)
	return b.now
}
