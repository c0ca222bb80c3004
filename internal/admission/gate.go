package admission

import (
	"time"

	"github.com/weirlimit/weir"
)

// Settings are what the options of every middleware change.
type Settings struct {
	Domain   string
	Policy   string        // empty for all that match
	Log      func(error)   // told of every error; nil for nobody
	Closed   bool          // deny when the checker makes no decision
	MaxDelay time.Duration // the longest wait for a leaky bucket; below 0 nobody waits
	Slots    bool          // give every request an id, before one is asked for
}

// Gate is a checker with what all requests share. NewGate makes one.
type Gate struct {
	settings Settings
	checker  weir.Checker
	async    weir.AsyncChecker // checker, or nil
	releaser weir.Releaser     // checker, or nil
	ids      ids
}

// NewGate returns a gate that asks c, which must not be nil once a request is
// made.
func NewGate(c weir.Checker, s Settings) *Gate {
	g := &Gate{settings: s, checker: c}
	g.ids.init()
	g.async, _ = c.(weir.AsyncChecker)
	g.releaser, _ = c.(weir.Releaser)
	return g
}

// Tell tells of an error, if it is one.
func (g *Gate) Tell(err error) {
	if err != nil && g.settings.Log != nil {
		g.settings.Log(err)
	}
}

// decided returns the error of a check that filled d: without one there is a
// verdict.
func decided(d *weir.Decision, err error) error {
	if err == nil && d.Verdict != weir.Allow && d.Verdict != weir.Deny {
		return errUndecided
	}
	return err
}

var errUndecided error = &weir.Error{Message: "the checker made no decision"}

// retryDegraded is when to come back to a limiter that cannot decide. Edges add
// jitter.
const retryDegraded = weir.Second

// decide fills d in the checker's place.
func (g *Gate) decide(d *weir.Decision) {
	*d = weir.Decision{Charges: d.Charges[:0], Matched: d.Matched[:0], RuleIndex: -1}
	d.Verdict, d.Reason, d.Source = weir.Allow, weir.ReasonDegraded, weir.SourceBackstop
	if g.settings.Closed {
		d.Verdict, d.RetryAfter = weir.Deny, retryDegraded
	}
}
