package policy

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// Explanation says what becomes of a request and why: plain data, to be printed
// with Text or encoded as JSON.
type Explanation struct {
	Version string `json:"version"`
	Domain  string `json:"domain"`
	Format  string `json:"format"`           // native, envoy, or none: nobody knows the domain
	Policy  string `json:"policy,omitempty"` // that the request names

	// Error is what the request is answered with instead of a decision.
	Error       string                `json:"error,omitempty"`
	Descriptors []ExplainedDescriptor `json:"descriptors"`
	Charges     []ExplainedCharge     `json:"charges"`
	// Denied: a limit of 0 applies, and no store is asked.
	Denied    bool   `json:"denied,omitempty"`
	OnFailure string `json:"on_failure"`         // the strictest of the rules that apply
	Deadline  string `json:"deadline,omitempty"` // the shortest; empty: the engine's
}

// ExplainedDescriptor is one descriptor of the request. A native request has one.
type ExplainedDescriptor struct {
	Dimensions []ExplainedPair `json:"dimensions"`
	// Plan is the one that limits are picked by, where there is any.
	Plan string `json:"plan,omitempty"`
	// Path is how far an Envoy descriptor gets, entry by entry.
	Path []ExplainedStep `json:"path,omitempty"`
	// Applied are the rules that apply. Missed are those that nearly do, the
	// nearest first; there are Others besides.
	Applied []ExplainedRule `json:"applied"`
	Missed  []ExplainedRule `json:"missed"`
	Others  int             `json:"others,omitempty"`
}

// ExplainedPair is one dimension.
type ExplainedPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ExplainedStep is one entry of an Envoy descriptor and the node it leads to.
type ExplainedStep struct {
	Entry string `json:"entry"`        // key=value as sent
	Node  string `json:"node"`         // as configured; empty: there is none
	At    string `json:"at,omitempty"` // file:line:column
	How   string `json:"how"`          // in words
}

// ExplainedRule is a rule and why it applies or does not.
type ExplainedRule struct {
	Rule string `json:"rule"`
	At   string `json:"at"`
	Why  string `json:"why"`
	// Counter is what the request shares a counter with others by.
	Counter string `json:"counter,omitempty"`
	Answer  string `json:"answer,omitempty"` // unavailable: a denial is 503, not 429
}

// ExplainedCharge is one charge. Its Key is what a store is asked for.
type ExplainedCharge struct {
	Rule       string `json:"rule"`
	Descriptor int    `json:"descriptor"`
	Key        string `json:"key"`
	Twin       string `json:"twin,omitempty"` // the counter's other name, while salts change
	Limit      string `json:"limit"`
	Cost       int64  `json:"cost"`
	Mode       string `json:"mode"`
	// Shards is into how many sub-counters the counter is split, where it is; Key
	// is one of them, and a request is charged to one.
	Shards int  `json:"shards,omitempty"`
	Lease  bool `json:"lease,omitempty"` // units may be taken ahead

	Meter    *weir.Meter   `json:"-"`
	Twinning weir.Twinning `json:"-"`
	Parts    []*weir.Meter `json:"-"` // of the sub-counters
}

// maxMissed is how many near misses are listed.
const maxMissed = 5

// Explain says what s does with r, and why. It asks no override: see ExplainAt.
func Explain(s *Set, r *weir.Request) Explanation { return ExplainAt(s, r, 0) }

// ExplainAt is Explain with the overrides in force at now.
func ExplainAt(s *Set, r *weir.Request, now weir.Micros) Explanation {
	return ExplainBy(s, r, &Plan{Now: now})
}

// ExplainBy is Explain with the overrides and pseudonyms that a plan with p's
// Now and Ring has. p is resolved anew.
func ExplainBy(s *Set, r *weir.Request, p *Plan) Explanation {
	e := Explanation{
		Version: s.Version(), Domain: r.Domain, Format: "none", Policy: r.Policy,
		Descriptors: []ExplainedDescriptor{}, Charges: []ExplainedCharge{},
	}
	if err := s.Resolve(r, p); err != nil {
		e.Error = err.Error()
		p.Charges, p.Uses = nil, nil // those made before it do not count
	}
	for i := range p.Uses {
		u := &p.Uses[i]
		c := &p.Charges[u.Charge]
		e.Charges = append(e.Charges, ExplainedCharge{
			Rule: u.Rule.ID, Descriptor: u.Descriptor, Key: c.Key, Twin: c.Twin, Limit: u.Meter.Limit.String(),
			Cost: u.Cost, Mode: c.Mode.String(), Shards: len(u.Parts), Lease: u.Rule.Lease,
			Meter: c.Meter, Twinning: c.Twinning, Parts: u.Parts,
		})
	}
	e.Denied, e.OnFailure = p.Denied(), failNames[p.Fail]
	if p.Deadline > 0 {
		e.Deadline = p.Deadline.String()
	}
	native, envoy := s.native[r.Domain], s.envoy[r.Domain]
	switch {
	case envoy != nil && r.Policy == "":
		e.Format = "envoy"
		e.explainEnvoy(envoy, r, p)
	case native != nil:
		e.Format = "native"
		e.explainNative(native, r, p.Now)
	}
	return e
}

// describe begins the explanation of a descriptor.
func describe(d *weir.Descriptor) ExplainedDescriptor {
	out := ExplainedDescriptor{Dimensions: []ExplainedPair{}, Applied: []ExplainedRule{}, Missed: []ExplainedRule{}}
	for _, p := range d.Pairs {
		out.Dimensions = append(out.Dimensions, ExplainedPair(p))
	}
	return out
}

// show writes a value so that its end and odd bytes can be seen.
func show(value string) string { return strconv.Quote(shorten(value)) }
