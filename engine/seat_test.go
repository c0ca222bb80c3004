package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
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
				seat, r, left := e.Seat(), ask("tenant", "acme"), 2*limit/seats
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
					seat.Prepare(r, &d, next)
					seat.Run() // Fetch is a hint
				}
				seat.Prepare(r, &d, next)
				seat.Fetch()
				seat.Run()
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

// Requests whose steps are taken by turns are decided as one after the other, and
// nothing is decided before Run: not what is wrong with a request, either.
func TestSeatsByTurns(t *testing.T) {
	const seats = 8
	for name, store := range map[string]weir.Store{"at once": memstore.New(), "later": later{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, weir.Hooks{}, `
policies:
  - {id: tenants, by: [tenant], limits: [3/d], on_failure: open}
`)
			var places [seats]engine.Seat
			for i := range places {
				places[i] = e.Seat()
			}
			for round := range 3 {
				var decisions [seats]weir.Decision
				var errs [seats]error
				var all sync.WaitGroup
				var answered atomic.Int64
				all.Add(seats)
				for i, s := range places {
					r := ask("tenant", "acme")
					if i == seats-1 {
						r.Descriptors[0].Cost, r.Descriptors[0].HasCost = -1, true
					}
					s.Prepare(r, &decisions[i], func(err error) {
						errs[i] = err
						answered.Add(1)
						all.Done()
					})
				}
				for _, s := range places {
					s.Fetch()
				}
				if n := answered.Load(); n > 0 {
					t.Fatalf("%d were answered before Run", n)
				}
				for _, s := range places {
					s.Run()
				}
				all.Wait()
				allowed := 0
				for i, d := range decisions[:seats-1] {
					if errs[i] != nil {
						t.Fatal(errs[i])
					}
					if d.Verdict == weir.Allow {
						allowed++
					}
				}
				if want := 3 * max(0, 1-round); allowed != want {
					t.Errorf("round %d: %d allowed, want %d", round, allowed, want)
				}
				if weir.CodeOf(errs[seats-1]) != weir.CodeInvalid {
					t.Errorf("a cost below 0: %v", errs[seats-1])
				}
			}
		})
	}
}

// fragile is a store of which what is asked for ahead of a decision breaks.
type fragile struct {
	*memstore.Store
	breaks atomic.Bool
}

func (s *fragile) Expect(key string) uint64 {
	if s.breaks.Load() {
		panic("fragile")
	}
	return s.Store.Expect(key)
}

// What breaks while a request is prepared is answered by Run, by the fail mode,
// and the seat is good for the next.
func TestSeatBreaks(t *testing.T) {
	var panics atomic.Int32
	store := &fragile{Store: memstore.New()}
	e := start(t, store, weir.Hooks{Panicked: func(string) { panics.Add(1) }}, `
policies:
  - {id: tenants, by: [tenant], limits: [3/d], on_failure: closed}
`)
	seat := e.Seat()
	for i, breaks := range []bool{false, true, false} {
		store.breaks.Store(breaks)
		var d weir.Decision
		answered := false
		seat.Prepare(ask("tenant", "acme"), &d, func(err error) {
			if err != nil {
				t.Error(err)
			}
			answered = true
		})
		if answered || panics.Load() != 0 && i < 2 {
			t.Fatalf("request %d: answered %v, %d panics before Run", i, answered, panics.Load())
		}
		seat.Fetch()
		seat.Run()
		if want := weir.SourceStore; !answered || breaks == (d.Source == want) || breaks != (d.Verdict == weir.Deny) {
			t.Errorf("request %d, breaks %v: answered %v, %+v", i, breaks, answered, d)
		}
	}
	if panics.Load() != 1 {
		t.Errorf("%d panics counted", panics.Load())
	}
}
