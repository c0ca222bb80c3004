package main

import (
	"testing"

	"github.com/weirlimit/weir"
)

// TestStoreWatch: it tells of a change once, and of the way back only when
// nothing has failed for a whole look.
func TestStoreWatch(t *testing.T) {
	var w storeWatch
	var degraded, calls int
	h := w.hooks(weir.Hooks{
		Degraded:  func(*weir.Decision, error) { degraded++ },
		StoreCall: func(weir.StoreCall) { calls++ },
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
	if weir.Code(w.why.Load()) != weir.CodeRefused || degraded != 3 || calls != 10 {
		t.Errorf("%v, %d and %d", weir.Code(w.why.Load()), degraded, calls)
	}
}
