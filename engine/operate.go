package engine

import (
	"context"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// Usage is what is in use of one limit that applies to a request.
type Usage struct {
	Rule    string
	Limit   weir.Limit
	Mode    weir.Mode
	Key     string // the counter's name in the store
	Outcome weir.Outcome
}

// Release gives back what the request with r's id holds of concurrency limits,
// and returns how many units that was.
func (e *Engine) Release(ctx context.Context, r *weir.Request) (int64, string, error) {
	set, err := e.ready()
	if err != nil {
		return 0, "", err
	}
	var p policy.Plan
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
	var p policy.Plan
	if err := set.Resolve(&look, &p); err != nil {
		return nil, "", err
	}
	out := make([]Usage, 0, len(p.Uses))
	for i := range p.Uses {
		u := &p.Uses[i]
		c := &p.Charges[u.Charge]
		o, err := e.store.Read(ctx, c.Key, c.Meter)
		if err != nil {
			return nil, "", err
		}
		out = append(out, Usage{Rule: u.Rule.ID, Limit: u.Meter.Limit, Mode: c.Mode, Key: strings.Clone(c.Key), Outcome: o})
	}
	return out, set.Version(), nil
}

// Reset forgets what is in use of every limit that applies to r, and returns
// what it was.
func (e *Engine) Reset(ctx context.Context, r *weir.Request) ([]Usage, string, error) {
	before, version, err := e.Usage(ctx, r)
	if err != nil {
		return nil, "", err
	}
	for i := range before {
		if err := e.store.Reset(ctx, before[i].Key); err != nil {
			return nil, "", err
		}
	}
	return before, version, nil
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
