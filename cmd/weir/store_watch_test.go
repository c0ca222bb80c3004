package main

import (
	"slices"
	"testing"

	"github.com/weirlimit/weir"
)

// TestStoreWatch: it tells of a change once, and of the way back only when
// nothing has failed for a whole look.
func TestStoreWatch(t *testing.T) {
	var w storeWatch
	var degraded, calls, changes int
	h := w.hooks(weir.Hooks{
		Degraded:  func(*weir.Decision, error) { degraded++ },
		StoreCall: func(weir.StoreCall) { calls++ },
		Breaker:   func(string, weir.BreakerState) { changes++ },
	})
	works := func() { h.StoreCall(weir.StoreCall{}) }
	fails := func() {
		err := &weir.Error{Code: weir.CodeRefused}
		h.StoreCall(weir.StoreCall{Err: err})
		h.Degraded(&weir.Decision{}, err)
	}
	for i, step := range []struct {
		do      []func()
		changed bool
		away    bool
	}{
		{nil, false, false},
		{[]func(){works, works}, false, false},
		{[]func(){works, fails, works}, true, true},
		{[]func(){fails}, false, true},
		{nil, false, true},
		{[]func(){works, fails}, false, true},
		{[]func(){works}, true, false},
		{[]func(){works}, false, false},
	} {
		if quiet := w.quiet(); !quiet {
			t.Errorf("step %d: something was noted before", i)
		}
		for _, do := range step.do {
			do()
		}
		if w.quiet() != (len(step.do) == 0) {
			t.Errorf("step %d: quiet %v after %d calls", i, w.quiet(), len(step.do))
		}
		if changed := w.look(); changed != step.changed || w.away != step.away {
			t.Errorf("step %d: changed %v, away %v, want %+v", i, changed, w.away, step)
		}
	}
	h.Breaker("a", weir.BreakerOpen)
	if weir.Code(w.why.Load()) != weir.CodeRefused || degraded != 3 || calls != 10 || changes != 1 {
		t.Errorf("%v, %d, %d and %d", weir.Code(w.why.Load()), degraded, calls, changes)
	}
}

// TestBreakerWatch: a shard that is left alone is told of once, however often
// it is tried in vain, and so is its return.
func TestBreakerWatch(t *testing.T) {
	var w storeWatch
	counted := 0
	h := w.hooks(weir.Hooks{Breaker: func(string, weir.BreakerState) { counted++ }})
	for i, step := range []struct {
		shard  string
		states []weir.BreakerState
		want   []breakerChange
	}{
		{"a", nil, nil},
		{"a", []weir.BreakerState{weir.BreakerOpen}, []breakerChange{{"a", true}}},
		{"a", []weir.BreakerState{weir.BreakerHalfOpen, weir.BreakerOpen}, nil},
		{"b", []weir.BreakerState{weir.BreakerOpen, weir.BreakerHalfOpen, weir.BreakerClosed}, []breakerChange{{"b", true}, {"b", false}}},
		{"a", []weir.BreakerState{weir.BreakerHalfOpen, weir.BreakerClosed}, []breakerChange{{"a", false}}},
	} {
		for _, state := range step.states {
			h.Breaker(step.shard, state)
		}
		if got := w.breakers.news(); !slices.Equal(got, step.want) {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	if counted != 8 {
		t.Errorf("%d changes were passed on, want 8", counted)
	}
	for range 2 * maxChanges { // nobody looks: it does not wait
		h.Breaker("c", weir.BreakerOpen)
	}
}

// TestReasonOf: a refusal by the breaker is told by what opened it.
func TestReasonOf(t *testing.T) {
	timeout := &weir.Error{Code: weir.CodeTimeout}
	for _, tt := range []struct {
		err  error
		want weir.Code
	}{
		{timeout, weir.CodeTimeout},
		{&weir.Error{Code: weir.CodeBreaker, Err: timeout}, weir.CodeTimeout},
		{&weir.Error{Code: weir.CodeBreaker}, weir.CodeBreaker},
	} {
		if got := reasonOf(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}
