package policy

import (
	"slices"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// Plan is what resolving a request gives: the charges to make, and which rule
// of which descriptor each is for. It is reused: Reset, then Resolve. Keys are
// views on the plan's own memory, valid until it is reset.
type Plan struct {
	// Charges have distinct keys: descriptors that meet in one counter have
	// their costs added.
	Charges []weir.Charge
	// Uses says what the charges are for. Several may use one charge.
	Uses []Use
	// Descriptors has an element per descriptor of the request.
	Descriptors []Matched
	// Fail is the strictest of the rules' fail modes (closed, local, open), and
	// Deadline the shortest of theirs, or 0.
	Fail     FailMode
	Deadline time.Duration
	// Tallied: a store's answer is not yet what envoyproxy/ratelimit would say.
	// See Shade, Judge and Retell.
	Tallied bool
	// Lasting: the same request of the same set has this plan again, whenever it
	// comes. Others count by values that go by a pseudonym for a time, by limits
	// that end, or by one of many sub-counters.
	Lasting bool
	// Now is the instant at which overrides are looked up. The caller sets it
	// before Resolve; Reset leaves it.
	Now weir.Micros
	// Ring is what private values get their pseudonyms from; nil is
	// pseudonym.Unsalted. The caller sets it as it does Now.
	Ring *pseudonym.Ring
	// Turn picks the sub-counter of split counters for requests without an id.
	// Resolving such a request counts it on; Reset leaves it. Plans that are used
	// side by side should start at numbers far apart.
	Turn uint64

	parted [][]*weir.Meter // of the limits being charged
	chose  uint64          // see choice
	chosen bool
	varied bool // is not Lasting

	keys    []byte
	values  []string // of the key being made
	parts   []part   // what they are made of
	at      naming   // the counter being named
	found   []int32  // native policies that may match
	hasher  pseudonym.Hasher
	phase   pseudonym.Phase
	phased  bool // phase is that of Now
	digests []digested
}

// Use is one window of one rule that applies.
type Use struct {
	Rule       *Rule
	Meter      *weir.Meter
	Descriptor int
	Charge     int // index into Charges
	Cost       int64
	// Parts are the meters of the sub-counters, of a counter that is split; the
	// charge is to one of them, and Meter is the whole. Else nil.
	Parts []*weir.Meter
}

// Matched is what a descriptor of the request met.
type Matched struct {
	Rule      *Rule // the Envoy rule, or nil; of a native request, nil
	Unlimited bool
	// Denies is the limit of 0 that the descriptor's cost does not fit into; nil
	// for all others. It denies the request as the rule's Mode and Quota say.
	Denies *weir.Limit
	// Replaced matched too, but a rule that another descriptor matched has it
	// among its Replaces: Rule is then nil.
	Replaced *Rule

	node *envoyNode
	by   counting // the same of node
}

// Denied tells whether the request is denied whatever a store would say.
func (p *Plan) Denied() bool { return p.Denier() != nil }

// Denier is the descriptor by which it is: a limit of 0 applies, and not only as one
// of several quotas. nil if there is none.
func (p *Plan) Denier() *Matched {
	var quota *Matched
	for i := range p.Descriptors {
		m := &p.Descriptors[i]
		switch {
		case m.Denies == nil || m.Rule.Mode == weir.Shadow:
		case !m.Rule.Quota:
			return m
		case quota == nil:
			quota = m
		}
	}
	if quota != nil && slices.ContainsFunc(p.Charges, func(c weir.Charge) bool { return c.Group == quotaGroup }) {
		return nil
	}
	return quota
}

// Reset empties p and keeps its memory.
func (p *Plan) Reset() {
	p.Charges, p.Uses, p.Descriptors, p.keys = p.Charges[:0], p.Uses[:0], p.Descriptors[:0], p.keys[:0]
	p.Fail, p.Deadline, p.Tallied, p.Lasting, p.varied = FailOpen, 0, false, false, false
	p.digests, p.phased, p.chosen = p.digests[:0], false, false
}
