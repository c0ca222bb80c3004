package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// lingers is a store that takes a millisecond longer each time.
type lingers struct {
	weir.Store
	asked *time.Duration
}

func (s lingers) Submit(b *weir.Batch, done func(*weir.Batch)) {
	*s.asked++
	time.Sleep(*s.asked * time.Millisecond)
	s.Store.Submit(b, done)
}

// Whoever waited for the store is told for how long: only those who wait for
// nobody are timed one for several.
func TestWaitersAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		hooks := weir.Hooks{Decided: func(_ *weir.Request, _ *weir.Decision, d time.Duration) { took = append(took, d) }}
		e := start(t, lingers{memstore.New(), new(time.Duration)}, hooks, "policies:\n  - {id: p, by: [tenant], limits: [100/m], on_failure: open}\n")
		for range 20 {
			var d weir.Decision
			if err := e.Check(context.Background(), ask("tenant", "a"), &d); err != nil {
				t.Fatal(err)
			}
		}
		for i, d := range took {
			if want := time.Duration(i+1) * time.Millisecond; d != want {
				t.Errorf("number %d took %v, want %v", i, d, want)
			}
		}
		if len(took) != 20 {
			t.Errorf("%d were told", len(took))
		}
	})
}
