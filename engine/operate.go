package engine

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// Usage is what is in use of one limit that applies to a request.
type Usage struct {
	Rule    string
	Limit   weir.Limit
	Mode    weir.Mode
	Key     string // the counter's name in the store
	Twin    string // its other name, while the salts of private values change
	Outcome weir.Outcome
	// Parts are the sub-counters of one that is split: Key and Twin are then the
	// first's, and Outcome is their sum. Else there is one, the counter itself.
	Parts []weir.Charge
}

// Release gives back what the request with r's id holds of concurrency limits,
// and returns how many units that was.
func (e *Engine) Release(ctx context.Context, r *weir.Request) (int64, string, error) {
	set, err := e.ready()
	if err != nil {
		return 0, "", err
	}
	p := e.plan()
	if err := set.ResolveRelease(r, &p); err != nil {
		return 0, "", err
	}
	if len(p.Charges) == 0 {
		return 0, set.Version(), nil
	}
	b := weir.Batch{Entries: []weir.Entry{{Charges: p.Charges, ID: r.ID}}, Deadline: r.Deadline}
	e.store.Decide(ctx, &b)
	if err := b.Entries[0].Err; err != nil {
		return 0, "", err
	}
	released := int64(0)
	for i := range b.Entries[0].Outcomes {
		released += b.Entries[0].Outcomes[i].Granted
	}
	return released, set.Version(), nil
}

// Usage tells what is in use of every limit that applies to r, and changes
// nothing. No fail mode applies: an error is an error.
func (e *Engine) Usage(ctx context.Context, r *weir.Request) ([]Usage, string, error) {
	set, err := e.ready()
	if err != nil {
		return nil, "", err
	}
	// Looking acquires nothing: any id will do for limits that need one.
	look := *r
	look.ID = "usage"
	p := e.plan()
	if err := set.Resolve(&look, &p); err != nil {
		return nil, "", err
	}
	p.Shade()
	out := make([]Usage, 0, len(p.Uses))
	for i := range p.Uses {
		u := &p.Uses[i]
		c := &p.Charges[u.Charge]
		parts := policy.SubCharges(c, u.Parts)
		one := Usage{Rule: u.Rule.ID, Limit: u.Meter.Limit, Mode: c.Mode, Key: parts[0].Key, Twin: parts[0].Twin, Parts: parts}
		for j := range parts {
			o, err := e.read(ctx, &parts[j])
			if err != nil {
				return nil, "", err
			}
			policy.AddPart(&one.Outcome, o)
		}
		out = append(out, one)
	}
	return out, set.Version(), nil
}

// plan is one to resolve with, now.
func (e *Engine) plan() policy.Plan {
	return policy.Plan{Now: weir.MicrosAt(time.Now()), Ring: e.ring()}
}

// read looks at a charge's counter, under whichever of its names it is.
func (e *Engine) read(ctx context.Context, c *weir.Charge) (weir.Outcome, error) {
	if c.Twin == "" {
		return e.store.Read(ctx, c.Key, c.Meter)
	}
	look := *c
	look.Mode, look.Cost, look.Group = weir.Peek, 0, 0
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{look}}}}
	e.store.Decide(ctx, &b)
	if err := b.Entries[0].Err; err != nil {
		return weir.Outcome{}, err
	}
	return b.Entries[0].Outcomes[0], nil
}

// Reset forgets what is in use of every limit that applies to r, and returns
// what it was. A counter with two names is forgotten under one after the other:
// a check in between may keep it.
func (e *Engine) Reset(ctx context.Context, r *weir.Request) ([]Usage, string, error) {
	before, version, err := e.Usage(ctx, r)
	if err != nil {
		return nil, "", err
	}
	for i := range before {
		for j := range before[i].Parts {
			if err := e.reset(ctx, &before[i].Parts[j]); err != nil {
				return nil, "", err
			}
		}
	}
	return before, version, nil
}

func (e *Engine) reset(ctx context.Context, c *weir.Charge) error {
	for _, name := range []string{c.Twin, c.Key} {
		if name == "" {
			continue
		}
		if err := e.store.Reset(ctx, name); err != nil {
			return err
		}
		e.forget(name)
	}
	return nil
}

func (e *Engine) ready() (*policy.Set, error) {
	if set := e.Set(); set != nil {
		return set, nil
	}
	return nil, notReady()
}

func notReady() error {
	return &weir.Error{Code: weir.CodeNotReady, Message: "no rate limit configuration loaded"}
}
