package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// compile makes a set of one native file.
func compile(t testing.TB, text string) *policy.Set {
	t.Helper()
	f, problems := policy.ParseNative("test.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatalf("parse: %v", problems)
	}
	set, problems := policy.Compile([]*policy.File{{Name: "test.yaml", Native: f}}, policy.Options{})
	if set == nil || policy.HasErrors(problems) {
		t.Fatalf("compile: %v", problems)
	}
	return set
}

func start(t testing.TB, store weir.Store, hooks weir.Hooks, text string) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Options{Store: store, Hooks: hooks, Deadline: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		e.Swap(compile(t, text))
	}
	return e
}

// ask makes a request of dimensions given as name, value, name, value.
func ask(dimensions ...string) *weir.Request {
	r := &weir.Request{Domain: "default", Cost: 1, Descriptors: make([]weir.Descriptor, 1)}
	for i := 0; i < len(dimensions); i += 2 {
		r.Descriptors[0].Pairs = append(r.Descriptors[0].Pairs, weir.Pair{Name: dimensions[i], Value: dimensions[i+1]})
	}
	return r
}

func check(t testing.TB, e *engine.Engine, r *weir.Request) weir.Decision {
	t.Helper()
	var d weir.Decision
	if err := e.Check(context.Background(), r, &d); err != nil {
		t.Fatalf("check: %v", err)
	}
	return d
}

func TestDecides(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: tenants, by: [tenant], limits: [2/m], on_failure: open}
`)
	for i, want := range []weir.Verdict{weir.Allow, weir.Allow, weir.Deny} {
		d := check(t, e, ask("tenant", "acme"))
		if d.Verdict != want || d.Rule != "tenants" || d.Source != weir.SourceStore || d.PolicyVersion != e.Set().Version() {
			t.Errorf("request %d: %+v", i+1, d)
		}
		if want == weir.Deny && (d.Reason != weir.ReasonExhausted || d.RetryAfter <= 0 || d.Remaining != 0) {
			t.Errorf("denial: %+v", d)
		}
	}
	if d := check(t, e, ask("tenant", "other")); !d.Allowed() || d.Remaining != 1 {
		t.Errorf("another tenant: %+v", d)
	}
}

func TestNothingApplies(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: tenants, by: [tenant], limits: [2/m], on_failure: open}
`)
	if d := check(t, e, ask("user", "ann")); !d.Allowed() || d.Reason != weir.ReasonNoRule || d.RuleIndex != -1 {
		t.Errorf("got %+v", d)
	}
}

func TestErrorsAreTheCallers(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, "")
	var d weir.Decision
	if err := e.Check(context.Background(), ask("tenant", "a"), &d); weir.CodeOf(err) != weir.CodeNotReady {
		t.Errorf("without policies: %v", err)
	}
	e.Swap(compile(t, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: closed}\n"))
	r := ask("tenant", "a")
	r.Policy = "nosuch"
	if err := e.Check(context.Background(), r, &d); weir.CodeOf(err) != weir.CodePolicyNotFound {
		t.Errorf("unknown policy: %v", err)
	}
}

func TestHierarchyIsAllOrNothing(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: users, by: [tenant, user], limits: [1/m], on_failure: open}
  - {id: tenants, by: [tenant], limits: [10/m], on_failure: open}
`)
	check(t, e, ask("tenant", "acme", "user", "ann"))
	d := check(t, e, ask("tenant", "acme", "user", "ann"))
	if d.Allowed() || d.Rule != "users" || len(d.Charges) != 2 {
		t.Fatalf("got %+v", d)
	}
	if d := check(t, e, ask("tenant", "acme", "user", "bob")); d.Charges[1].Outcome.Remaining != 8 {
		t.Errorf("the tenant was charged for the denied request: %+v", d.Charges[1])
	}
}

func TestShadowChangesNoAnswer(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: watched, by: [tenant], limits: [1/m], mode: shadow, on_failure: closed}
`)
	for range 3 {
		if d := check(t, e, ask("tenant", "acme")); !d.Allowed() || d.Source != weir.SourceShadow {
			t.Errorf("got %+v", d)
		}
	}
}

// broken is a store that fails every entry, or panics.
type broken struct {
	weir.Store
	err   error
	panic bool
}

func (b broken) Submit(batch *weir.Batch, done func(*weir.Batch)) {
	if b.panic {
		batch.Entries[0].Err = nil
		batch.Entries[0].Outcomes = nil // what answering stumbles over
		done(batch)
		return
	}
	for i := range batch.Entries {
		batch.Entries[i].Err = b.err
	}
	done(batch)
}

func TestFailModes(t *testing.T) {
	down := &weir.Error{Code: weir.CodeTimeout, Message: "away"}
	for mode, want := range map[string]weir.Verdict{"open": weir.Allow, "closed": weir.Deny, "local": weir.Deny} {
		var degraded atomic.Int32
		e := start(t, broken{err: down}, weir.Hooks{
			Degraded: func(_ *weir.Decision, err error) {
				if weir.CodeOf(err) == weir.CodeTimeout {
					degraded.Add(1)
				}
			},
		}, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: "+mode+"}\n")
		d := check(t, e, ask("tenant", "a"))
		if d.Verdict != want || d.Reason != weir.ReasonDegraded || d.Source != weir.SourceBackstop || d.Rule != "p" {
			t.Errorf("%s: %+v", mode, d)
		}
		if want == weir.Deny && d.RetryAfter <= 0 {
			t.Errorf("%s: no retry-after", mode)
		}
		if degraded.Load() != 1 {
			t.Errorf("%s: counted %d times", mode, degraded.Load())
		}
	}
}

func TestTheStrictestFailModeAnswers(t *testing.T) {
	e := start(t, broken{err: &weir.Error{Code: weir.CodeRefused}}, weir.Hooks{}, `
policies:
  - {id: a, by: [tenant], limits: [2/m], on_failure: open}
  - {id: b, by: [tenant], limits: [20/h], on_failure: closed}
`)
	if d := check(t, e, ask("tenant", "a")); d.Allowed() || d.Rule != "b" {
		t.Errorf("got %+v", d)
	}
}

func TestPanicIsAnsweredByTheFailMode(t *testing.T) {
	var panics atomic.Int32
	e := start(t, broken{panic: true}, weir.Hooks{Panicked: func(string) { panics.Add(1) }},
		"policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: closed}\n")
	if d := check(t, e, ask("tenant", "a")); d.Allowed() || d.Reason != weir.ReasonDegraded {
		t.Errorf("got %+v", d)
	}
	if panics.Load() != 1 {
		t.Errorf("%d panics counted", panics.Load())
	}
}

// TestHookThatPanics: the answer is given all the same, and counted once.
func TestHookThatPanics(t *testing.T) {
	var panics atomic.Int32
	e := start(t, broken{err: &weir.Error{Code: weir.CodeRefused}}, weir.Hooks{
		Degraded: func(*weir.Decision, error) { panic("the hook's") },
		Panicked: func(string) { panics.Add(1) },
	}, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: open}\n")
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Reason != weir.ReasonDegraded {
		t.Errorf("got %+v", d)
	}
	if panics.Load() != 1 {
		t.Errorf("%d panics counted", panics.Load())
	}
}

// slow holds back its answers and remembers the deadline it was given.
type slow struct {
	weir.Store
	deadline time.Time
}

func (s *slow) Submit(b *weir.Batch, done func(*weir.Batch)) {
	s.deadline = b.Deadline
	b.Entries[0].Err = &weir.Error{Code: weir.CodeTimeout}
	done(b)
}

func TestTheShortestDeadlineHolds(t *testing.T) {
	s := &slow{}
	e := start(t, s, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: open, deadline: 5ms}\n")
	before := time.Now()
	check(t, e, ask("tenant", "a"))
	if s.deadline.Before(before) || s.deadline.After(time.Now().Add(5*time.Millisecond)) {
		t.Errorf("the rule's deadline is %v away", s.deadline.Sub(before))
	}
	r := ask("tenant", "a")
	r.Deadline = before.Add(time.Microsecond)
	check(t, e, r)
	if !s.deadline.Equal(r.Deadline) {
		t.Errorf("the request's deadline: %v", s.deadline)
	}
	ctx, cancel := context.WithDeadline(context.Background(), before.Add(2*time.Microsecond))
	defer cancel()
	var d weir.Decision
	_ = e.Check(ctx, ask("tenant", "a"), &d)
	if !s.deadline.Equal(before.Add(2 * time.Microsecond)) {
		t.Errorf("the context's deadline: %v", s.deadline)
	}
}

// TestSwapIsAtomic: under constant swaps every decision is made under one set:
// its version and the limit it reports belong together.
func TestSwapIsAtomic(t *testing.T) {
	sets := []*policy.Set{
		compile(t, "policies:\n  - {id: p, by: [tenant], limits: [1000000/h, 1000/s burst 1000000], on_failure: open}\n"),
		compile(t, "policies:\n  - {id: p, by: [tenant], limits: [2000000/h, 2000/s burst 2000000], on_failure: open}\n"),
	}
	want := map[string]int64{sets[0].Version(): 1_000_000, sets[1].Version(): 2_000_000}
	e := start(t, memstore.New(), weir.Hooks{}, "")
	e.Swap(sets[0])
	stop := make(chan struct{})
	var swapper, checkers sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				e.Swap(sets[i%2])
			}
		}
	})
	for range 4 {
		checkers.Go(func() {
			for range 2000 {
				d := check(t, e, ask("tenant", "acme"))
				if len(d.Charges) != 2 {
					t.Errorf("%d charges", len(d.Charges))
					return
				}
				hour, burst := d.Charges[0].Limit.Count, d.Charges[1].Limit.Burst
				if w := want[d.PolicyVersion]; hour != w || burst != w {
					t.Errorf("version %s with limits %d and %d", d.PolicyVersion, hour, burst)
					return
				}
			}
		})
	}
	checkers.Wait()
	close(stop)
	swapper.Wait()
}

func TestReleaseUsageAndReset(t *testing.T) {
	ctx := context.Background()
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: jobs, by: [tenant], limits: [2 concurrency 30s], on_failure: open}
  - {id: rate, by: [tenant], limits: [10/m], on_failure: open}
`)
	r := ask("tenant", "acme")
	r.ID = "job-1"
	check(t, e, r)
	list, version, err := e.Usage(ctx, ask("tenant", "acme"))
	if err != nil || len(list) != 2 || version != e.Set().Version() || list[0].Outcome.Before.Used != 1 || list[1].Outcome.Before.Used != 1 {
		t.Fatalf("usage %+v, %v", list, err)
	}
	if n, _, err := e.Release(ctx, r); n != 1 || err != nil {
		t.Errorf("released %d, %v", n, err)
	}
	if n, _, err := e.Release(ctx, r); n != 0 || err != nil {
		t.Errorf("released again %d, %v", n, err)
	}
	if before, _, err := e.Reset(ctx, ask("tenant", "acme")); err != nil || before[1].Outcome.Before.Used != 1 {
		t.Errorf("reset %+v, %v", before, err)
	}
	if list, _, _ := e.Usage(ctx, ask("tenant", "acme")); list[1].Outcome.Before.Used != 0 {
		t.Errorf("after reset %+v", list[1])
	}
}

func TestSubmitCallsBackOnce(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: open}\n")
	var calls int
	var d weir.Decision
	e.Submit(ask("tenant", "a"), &d, func(err error) {
		calls++
		if err != nil {
			t.Error(err)
		}
	})
	if calls != 1 || !d.Allowed() {
		t.Errorf("%d calls, %+v", calls, d)
	}
}

func TestNewNeedsAStore(t *testing.T) {
	_, err := engine.New(engine.Options{})
	if e, ok := errors.AsType[*weir.Error](err); !ok || e.Field != "store" {
		t.Errorf("got %v", err)
	}
}

// TestCallbackThatPanics: it is counted, and no other request suffers.
func TestCallbackThatPanics(t *testing.T) {
	var panics atomic.Int32
	e := start(t, memstore.New(), weir.Hooks{Panicked: func(string) { panics.Add(1) }},
		"policies:\n  - {id: p, by: [tenant], limits: [9/m], on_failure: open}\n")
	var d weir.Decision
	e.Submit(ask("tenant", "a"), &d, func(error) { panic("the caller's") })
	if panics.Load() != 1 {
		t.Errorf("%d panics counted", panics.Load())
	}
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Remaining != 7 {
		t.Errorf("the next request: %+v", d)
	}
}
