package admission

import (
	"context"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// Pass is one request on its way, and the memory that takes. Init makes one
// ready; it must not be copied.
type Pass struct {
	Decision weir.Decision
	Request  weir.Request // of one descriptor

	gate    *Gate
	free    func()
	settled func(error) // the callback of what is charged afterwards

	cost    int64 // charged before the handler
	known   bool  // whose request it is
	chosen  bool  // the id is ours
	holds   bool  // there may be a place to release
	charged bool  // there is something to give back,
	back    bool  // and it is to be given back
}

// Init makes p ready for one request after another. free is called when a
// request is over, and p can be used for the next.
func (p *Pass) Init(g *Gate, free func()) {
	p.gate, p.free = g, free
	p.Request = weir.Request{Domain: g.settings.Domain, Policy: g.settings.Policy, Descriptors: make([]weir.Descriptor, 1)}
	p.settled = func(err error) {
		g.Tell(err)
		free()
	}
}

// Begin makes p a request that costs so much: 0 or less is free. It returns the
// memory of its dimensions, to append to and give to Describe.
func (p *Pass) Begin(cost int64) []weir.Pair {
	p.cost = max(0, cost)
	p.known, p.chosen, p.holds, p.charged, p.back = false, false, false, false, false
	p.Request.ID = ""
	return p.Request.Descriptors[0].Pairs[:0]
}

// Describe says by what the request is told apart from others. It bounds the
// values of pairs.
func (p *Pass) Describe(pairs []weir.Pair) {
	p.known = true
	for i := range pairs {
		if len(pairs[i].Value) > MaxValueBytes {
			pairs[i].Value = Bounded(pairs[i].Value)
		}
	}
	p.Request.Descriptors[0] = weir.Descriptor{Pairs: pairs, Cost: p.cost, HasCost: true}
}

// Identify takes the request's id from a field's values, if there are any.
func (p *Pass) Identify(field string, values []string) error {
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1 || len(values[0]) > weir.MaxIDBytes || !utf8.ValidString(values[0]):
		return Invalid(field, "is there twice, too long or not UTF-8", "256 bytes are the most")
	}
	p.Request.ID = values[0]
	return nil
}

// Ask has the checker decide. An error is for Undecided. Who is admitted and
// gone by then is an error too, and the End gives back what it was charged.
func (p *Pass) Ask(ctx context.Context) error {
	g := p.gate
	if g.settings.Slots && p.Request.ID == "" {
		p.chooseID()
	}
	asking := patient(ctx)
	err := g.checker.Check(asking, &p.Request, &p.Decision)
	if err != nil && p.Request.ID == "" && g.releaser != nil && wantsID(err) {
		p.chooseID()
		err = g.checker.Check(asking, &p.Request, &p.Decision)
	}
	d := &p.Decision
	if err = decided(d, err); err != nil {
		return err
	}
	p.charged = d.Allowed() && d.Reason != weir.ReasonDegraded && d.Reason != weir.ReasonNoRule && p.cost > 0
	p.holds = p.Request.ID != "" && g.releaser != nil && p.acquired()
	if d.Allowed() && ctx.Err() != nil {
		p.back = true
		return gone(ctx)
	}
	return nil
}

func (p *Pass) chooseID() { p.Request.ID, p.chosen = p.gate.ids.next(), true }

// acquired tells whether the request may hold a place of a limit of concurrency
// that is to be given back.
func (p *Pass) acquired() bool {
	d := &p.Decision
	if d.Reason == weir.ReasonDegraded || d.Source == weir.SourceBackstop { // a store that did not answer in time may have counted
		return p.chosen
	}
	if !d.Allowed() || d.Reason == weir.ReasonNoRule || d.Replayed {
		return false // a replay's place is the first one's, which gives it back itself
	}
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Limit.Algorithm == weir.Concurrency && c.Outcome.Granted > 0 {
			return true
		}
	}
	// A checker need not list the charges. Releasing what is not held does
	// nothing.
	return len(d.Charges) == 0 && p.chosen
}

// Holds tells whether something is left to do at the end of the request, other
// than what its result may cost.
func (p *Pass) Holds() bool { return p.holds || p.back }
