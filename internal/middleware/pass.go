package middleware

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// MaxValueBytes is the longest value of a dimension that is sent as it is, the
// longest that a server takes.
const MaxValueBytes = 256

// retryDegraded is when to come back to a limiter that cannot decide.
const retryDegraded = weir.Second

// Pass is one request on its way. Between Begin and Enter the caller fills in
// the request: dimensions, and Cost and ID where it has them.
type Pass struct {
	// Request has one descriptor. Its ID is made by Enter where one is needed.
	Request weir.Request
	// Decision is the answer, after Enter.
	Decision weir.Decision

	gate  *Gate
	holds bool // there may be something to release
}

func newPass(g *Gate) *Pass {
	return &Pass{gate: g, Request: weir.Request{Descriptors: make([]weir.Descriptor, 1)}}
}

func (p *Pass) reset() {
	all := p.Request.Descriptors[:1]
	pairs := all[0].Pairs
	clear(pairs) // whose values were this request's last
	all[0] = weir.Descriptor{Pairs: pairs[:0]}
	p.Request = weir.Request{Domain: p.gate.Domain, Policy: p.gate.Policy, Descriptors: all}
	p.Decision = weir.Decision{Charges: p.Decision.Charges[:0], Matched: p.Decision.Matched[:0]}
	p.holds = false
}

// Dimension adds what is known of the request. An empty value tells nobody
// apart, and is left out. One that a server would refuse, because it is too long
// or no UTF-8, is replaced by its digest: to be refused must not be a way around
// a limit.
func (p *Pass) Dimension(name, value string) {
	if value == "" {
		return
	}
	if len(value) > MaxValueBytes || !utf8.ValidString(value) {
		sum := sha256.Sum256([]byte(value))
		value = "sha256:" + hex.EncodeToString(sum[:])
	}
	d := &p.Request.Descriptors[0]
	d.Pairs = append(d.Pairs, weir.Pair{Name: name, Value: value})
}

// Cost sets what the request costs; 0 only looks.
func (p *Pass) Cost(n int64) {
	d := &p.Request.Descriptors[0]
	d.Cost, d.HasCost = n, true
}

// Enter asks, and waits where a leaky bucket says so. It returns nil when
// p.Decision says what to do. Else nothing was decided: the request is wrong
// (CodeInvalid), or its caller is gone (CodeCanceled, CodeTimeout).
func (p *Pass) Enter(ctx context.Context) error {
	g := p.gate
	if g.Holds && p.Request.ID == "" {
		p.Request.ID = rand.Text()
	}
	err := g.Checker.Check(ctx, &p.Request, &p.Decision)
	if err != nil {
		return p.undecided(ctx, err)
	}
	d := &p.Decision
	p.holds = g.Holds && mayHold(d)
	if d.Allowed() && d.Delay > 0 && g.MaxDelay > 0 {
		return p.wait(ctx)
	}
	return nil
}

// undecided answers in the checker's place.
func (p *Pass) undecided(ctx context.Context, err error) error {
	g := p.gate
	g.failed(ctx, err)
	p.holds = g.Holds // an answer that was lost may have charged
	if ctx.Err() != nil {
		return gone(ctx)
	}
	// An id is this package's business: a policy that wants one where the
	// program gives none is the program's mistake, not its caller's.
	if e := asError(err); e.Code == weir.CodeInvalid && e.Field != "id" {
		return e
	}
	d := &p.Decision
	*d = weir.Decision{Charges: d.Charges[:0], Matched: d.Matched[:0], RuleIndex: -1}
	d.Verdict, d.Reason, d.Source = weir.Allow, weir.ReasonDegraded, weir.SourceBackstop
	if g.FailClosed {
		d.Verdict, d.RetryAfter = weir.Deny, retryDegraded
	}
	return nil
}

// wait holds an admitted request back for as long as was said. One that would
// have to wait too long, or whose caller leaves meanwhile, gives its units back.
func (p *Pass) wait(ctx context.Context) error {
	d := &p.Decision
	most := weir.MicrosOf(p.gate.MaxDelay)
	if d.Delay > most {
		retry := d.Delay - most
		p.refund(ctx)
		d.Verdict, d.Reason, d.RetryAfter, d.Delay = weir.Deny, weir.ReasonExhausted, retry, 0
		return nil
	}
	t := time.NewTimer(d.Delay.Duration())
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		p.refund(ctx)
		return gone(ctx)
	}
}

// mayHold tells whether a decision may have taken a place of a concurrency
// limit. A checker that lists its charges says so exactly.
func mayHold(d *weir.Decision) bool {
	if d.Reason == weir.ReasonDegraded { // a store that did not answer in time may have charged
		return true
	}
	if !d.Allowed() || d.Reason == weir.ReasonNoRule {
		return false
	}
	for i := range d.Charges {
		if d.Charges[i].Limit.Algorithm == weir.Concurrency {
			return true
		}
	}
	return len(d.Charges) == 0
}
