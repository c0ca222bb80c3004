package engine_test

import (
	"testing"

	"github.com/weirlimit/weir"
)

// TestPeekNeedsNoID: looking at a limit of concurrency takes no place, and so
// has nothing to be released by.
func TestPeekNeedsNoID(t *testing.T) {
	eachStore(t, func(t *testing.T, store weir.Store, _ func(weir.Micros)) {
		e := start(t, store, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10/h], concurrency: 2, on_failure: closed}\n")
		r := ask("tenant", "a")
		r.ID = "one"
		check(t, e, r)
		look := ask("tenant", "a")
		look.Descriptors[0].HasCost = true
		if d := check(t, e, look); !d.Allowed() || len(d.Charges) != 2 || d.Charges[1].Outcome.Remaining != 1 || d.Charges[1].Outcome.Before.Used != 1 {
			t.Errorf("got %+v", d)
		}
	})
}
