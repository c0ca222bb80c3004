package degrade_test

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

const mixed = `
policies:
  - {id: reads, by: [tenant], limits: [8/h, 80/d], on_failure: open}
  - {id: logins, by: [user], limits: [8/h], on_failure: local}
  - {id: payments, by: [payer], limits: [8/h], on_failure: closed}
`

// staged returns an engine with all that is here, over a store.
func staged(t *testing.T, store weir.Store, gate *degrade.Gate) *engine.Engine {
	t.Helper()
	return enginetest.New(t, mixed, engine.Options{
		Store: store, Deadline: time.Second, Gate: gate,
		Backstop: degrade.NewBackstop(degrade.BackstopOptions{}), Switch: degrade.NewSwitch(time.Now),
	})
}

func decide(t *testing.T, e *engine.Engine, pairs ...string) (d weir.Decision) {
	t.Helper()
	var of weir.Descriptor
	for i := 0; i < len(pairs); i += 2 {
		of.Pairs = append(of.Pairs, weir.Pair{Name: pairs[i], Value: pairs[i+1]})
	}
	r := weir.Request{Domain: policy.DefaultDomain, Descriptors: []weir.Descriptor{of}, Cost: 1}
	if err := e.Check(t.Context(), &r, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Of several policies closed wins, and the others are each held to their share.
func TestModesTogether(t *testing.T) {
	store := memstore.New()
	e := staged(t, store, degrade.NewGate(degrade.GateOptions{Target: time.Second}))
	for range 3 {
		decide(t, e, "tenant", "warm")
	}
	_ = store.Close()
	passes := func(pairs ...string) (n int) {
		for {
			d := decide(t, e, pairs...)
			if d.Source != weir.SourceBackstop {
				t.Fatalf("%v: %+v", pairs, d)
			}
			if !d.Allowed() {
				return n
			}
			if d.Reason != weir.ReasonDegraded {
				t.Fatalf("%v: %+v", pairs, d)
			}
			n++
		}
	}
	if n := passes("tenant", "warm"); n != 5 {
		t.Errorf("open, 5 of 8 left: %d", n)
	}
	if n := passes("tenant", "cold"); n != 8 {
		t.Errorf("open: %d", n)
	}
	if n := passes("tenant", "a", "user", "u"); n != 2 {
		t.Errorf("open and local: %d", n)
	}
	if n := passes("tenant", "a"); n != 6 {
		t.Errorf("what is left of open: %d", n)
	}
	if n := passes("tenant", "b", "payer", "p"); n != 0 {
		t.Errorf("open and closed: %d", n)
	}
	if n := passes("tenant", "b"); n != 8 {
		t.Errorf("what a closed policy denied was charged: %d", n)
	}
	if d := decide(t, e, "user", "u"); d.Reason != weir.ReasonExhausted || d.Rule != "logins" || d.RetryAfter <= 0 || d.RetryAfter == weir.Never {
		t.Errorf("denied by its share: %+v", d)
	}
	if d := decide(t, e, "payer", "p"); d.Reason != weir.ReasonDegraded || d.RetryAfter != weir.Second {
		t.Errorf("denied for want of a store: %+v", d)
	}
}

// held is a store that answers when it is told to.
type held struct {
	weir.Store
	waiting chan func()
}

func (h *held) Submit(b *weir.Batch, done func(*weir.Batch)) {
	h.waiting <- func() { h.Store.Submit(b, done) }
}

// What the gate keeps out is answered by its mode at once, and what is inside
// still by the store.
func TestKeptOut(t *testing.T) {
	store := &held{Store: memstore.New(), waiting: make(chan func(), 10)}
	gate := degrade.NewGate(degrade.GateOptions{MaxInFlight: 2, Target: time.Second})
	e := staged(t, store, gate)
	inside := make([]weir.Decision, 2)
	requests := make([]weir.Request, 2)
	answered := make(chan error, 2)
	for i := range inside {
		requests[i] = weir.Request{Domain: policy.DefaultDomain, Cost: 1, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "payer", Value: "p"}}}}}
		e.Submit(&requests[i], &inside[i], func(err error) { answered <- err })
	}
	if d := decide(t, e, "payer", "p"); d.Allowed() || d.Reason != weir.ReasonDegraded {
		t.Errorf("closed, kept out: %+v", d)
	}
	if d := decide(t, e, "tenant", "a"); !d.Allowed() || d.Source != weir.SourceBackstop {
		t.Errorf("open, kept out: %+v", d)
	}
	for range inside {
		(<-store.waiting)()
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
	}
	if !inside[0].Allowed() || inside[1].Source != weir.SourceStore {
		t.Errorf("inside: %+v", inside)
	}
	if now, _ := gate.InFlight(); now != 0 {
		t.Errorf("%d are still inside", now)
	}
}
