package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// later answers from a goroutine of its own.
type later struct{ weir.Store }

func (s later) Submit(b *weir.Batch, done func(*weir.Batch)) { go s.Store.Submit(b, done) }

// Seats decide beside each other what the engine decides, also when the next
// request is submitted by the callback of the one before.
func TestSeat(t *testing.T) {
	const seats, limit = 8, 1000
	for name, store := range map[string]weir.Store{"at once": memstore.New(), "later": later{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, weir.Hooks{}, `
policies:
  - {id: tenants, by: [tenant], limits: [1000/d], on_failure: open}
`)
			var allowed, denied atomic.Int64
			var all sync.WaitGroup
			for range seats {
				all.Add(1)
				submit, r, left := e.Seat(), ask("tenant", "acme"), 2*limit/seats
				var d weir.Decision
				var next func(err error)
				next = func(err error) {
					switch {
					case err != nil || d.Rule != "tenants":
						t.Errorf("%+v, %v", d, err)
					case d.Verdict == weir.Allow:
						allowed.Add(1)
					default:
						denied.Add(1)
					}
					if left--; left == 0 {
						all.Done()
						return
					}
					submit(r, &d, next)
				}
				submit(r, &d, next)
			}
			all.Wait()
			if allowed.Load() != limit || denied.Load() != limit {
				t.Errorf("%d allowed and %d denied, want %d each", allowed.Load(), denied.Load(), limit)
			}
			// The engine's own memory is another.
			if d := check(t, e, ask("tenant", "acme")); d.Verdict != weir.Deny {
				t.Errorf("%+v, want a denial", d)
			}
		})
	}
}
