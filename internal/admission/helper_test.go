package admission

import (
	"context"
	"testing"

	"github.com/weirlimit/weir"
)

// script is a checker that answers as told, and notes what it is asked.
type script struct {
	dec      weir.Decision
	err      error
	asked    []weir.Request
	released []string // ids
}

func (s *script) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	if ctx.Err() != nil {
		return &weir.Error{Code: weir.CodeCanceled}
	}
	q := *r
	q.Descriptors = append([]weir.Descriptor(nil), r.Descriptors...)
	s.asked = append(s.asked, q)
	*d = s.dec
	return s.err
}

func (s *script) Release(ctx context.Context, r *weir.Request) (int64, string, error) {
	s.released = append(s.released, r.ID)
	return 1, "", ctx.Err()
}

// later is a script that need not be waited for.
type later struct{ *script }

func (l later) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	done(l.Check(context.Background(), r, d))
}

// pass is a pass of tenant a that costs 4; an id of "" is none.
func pass(t *testing.T, c weir.Checker, s Settings, id string) (p *Pass, freed *int) {
	t.Helper()
	p, freed = new(Pass), new(int)
	s.Domain, s.Policy = "d", "p"
	p.Init(NewGate(c, s), func() { *freed++ })
	p.Describe(append(p.Begin(4), weir.Pair{Name: "tenant", Value: "a"}))
	if id != "" {
		if err := p.Identify("id", []string{id}); err != nil {
			t.Fatal(err)
		}
	}
	return p, freed
}

// taking is an admission whose limit of concurrency granted n places.
func taking(n int64) weir.Decision {
	return weir.Decision{Verdict: weir.Allow, Charges: []weir.Charged{
		{Limit: weir.Limit{Algorithm: weir.GCRA}, Outcome: weir.Outcome{Granted: 1}},
		{Limit: weir.Limit{Algorithm: weir.Concurrency}, Outcome: weir.Outcome{Granted: n}},
	}}
}

func replayed(d weir.Decision) weir.Decision { d.Replayed = true; return d }
func denied(d weir.Decision) weir.Decision   { d.Verdict = weir.Deny; return d }

var (
	allowed  = weir.Decision{Verdict: weir.Allow}
	degraded = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}
	noRule   = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonNoRule}
)
