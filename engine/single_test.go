package engine_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// patient is a store in memory that is not known to be prompt: it is asked by
// batches.
type patient struct{ weir.Store }

// timeless is a decision without what two clocks tell differently.
func timeless(d weir.Decision) weir.Decision {
	strip := func(m *weir.Micros) {
		if *m != weir.Never && *m != 0 {
			*m = 1
		}
	}
	strip(&d.At)
	strip(&d.ResetAfter)
	strip(&d.RetryAfter)
	strip(&d.Delay)
	charges := make([]weir.Charged, len(d.Charges))
	for i, c := range d.Charges {
		for _, m := range []*weir.Micros{&c.Outcome.ResetAfter, &c.Outcome.RetryAfter, &c.Outcome.Delay, &c.Outcome.Before.Since} {
			strip(m)
		}
		charges[i] = c
	}
	d.Charges = charges
	return d
}

// A charge that goes to the store by itself is answered as one in a batch.
func TestSingleIsAsInABatch(t *testing.T) {
	const text = `
policies:
  - {id: few, by: [few], limits: [3/h gcra], on_failure: open}
  - {id: shaped, by: [shaped], limits: [4/h leaky_bucket burst 3], on_failure: closed}
  - {id: window, by: [window], limits: [3/h], on_failure: open}
  - {id: shadow, by: [shadow], limits: [2/h gcra], mode: shadow}
  - {id: both, by: [both], limits: [2/h gcra, 5/d gcra]}
`
	type step struct {
		name    string
		request *weir.Request
	}
	with := func(r *weir.Request, change func(*weir.Request)) *weir.Request { change(r); return r }
	var steps []step
	for _, dimension := range []string{"few", "shaped", "window", "shadow", "both", "none"} {
		add := func(name string, change func(*weir.Request)) {
			steps = append(steps, step{dimension + ": " + name, with(ask(dimension, "x"), change)})
		}
		for range 5 {
			add("one", func(*weir.Request) {})
		}
		add("too much", func(r *weir.Request) { r.Cost = 100 })
		add("a look", func(r *weir.Request) { r.Descriptors[0].HasCost = true })
		add("back", func(r *weir.Request) { r.Descriptors[0].Refund = true })
		add("with an id", func(r *weir.Request) { r.ID = "1" })
		add("again", func(r *weir.Request) { r.ID = "1" })
		add("spent", func(r *weir.Request) { r.Descriptors[0].Spent = true })
		add("too late", func(r *weir.Request) { r.Deadline = time.Now().Add(-time.Minute) })
		add("two descriptors", func(r *weir.Request) { r.Descriptors = append(r.Descriptors, ask("other", "y").Descriptors...) })
	}
	single, batched := memstore.New(), memstore.New()
	a, b := start(t, single, weir.Hooks{}, text), start(t, patient{batched}, weir.Hooks{}, text)
	compare := func(s step) {
		t.Helper()
		var got, want weir.Decision
		gotErr, wantErr := a.Check(context.Background(), s.request, &got), b.Check(context.Background(), s.request, &want)
		if !reflect.DeepEqual(timeless(got), timeless(want)) || weir.CodeOf(gotErr) != weir.CodeOf(wantErr) {
			t.Errorf("%s:\nsingle  %+v %v\nbatched %+v %v", s.name, timeless(got), gotErr, timeless(want), wantErr)
		}
	}
	for _, s := range steps {
		compare(s)
	}
	_, _ = single.Close(), batched.Close()
	compare(step{"closed, fails open", ask("few", "x")})
	compare(step{"closed, fails closed", ask("shaped", "x")})
}

// full is a store in memory that has no room for a charge by itself.
type full struct{ *memstore.Store }

func (full) ChargeNow(*weir.Charge, time.Duration, time.Time, uint64, *weir.Outcome) (bool, error) {
	return true, &weir.Error{Code: weir.CodeOverload, Message: "no room"}
}

// One that the store cannot answer fails by the policy's mode.
func TestSingleFails(t *testing.T) {
	e := start(t, full{memstore.New()}, weir.Hooks{}, `
policies:
  - {id: open, by: [open], limits: [3/h gcra], on_failure: open}
  - {id: closed, by: [closed], limits: [3/h gcra], on_failure: closed}
`)
	for name, want := range map[string]weir.Verdict{"open": weir.Allow, "closed": weir.Deny} {
		if d := check(t, e, ask(name, "x")); d.Verdict != want || d.Reason != weir.ReasonDegraded || d.Source != weir.SourceBackstop || len(d.Charges) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
