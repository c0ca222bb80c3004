package engine_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
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
					seat.Run() // Find and Fetch are hints
				}
				seat.Prepare(r, &d, next)
				seat.Find()
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
					s.Find()
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

func (s *fragile) Approach(key string) uint64 {
	if s.breaks.Load() {
		panic("fragile")
	}
	return s.Store.Approach(key)
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
		seat.Find()
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

// envoySet is a set of one file of Envoy's format, whose plans last.
func envoySet(t *testing.T, limit string) *policy.Set {
	t.Helper()
	f, problems := policy.ParseEnvoy("test.yaml", []byte("domain: default\ndescriptors: [{key: tenant, rate_limit: {unit: day, requests_per_unit: "+limit+"}}]"))
	if policy.HasErrors(problems) {
		t.Fatal(problems)
	}
	set, problems := policy.Compile([]*policy.File{{Name: "test.yaml", Envoy: f}}, policy.Options{})
	if set == nil || policy.HasErrors(problems) {
		t.Fatal(problems)
	}
	return set
}

// A request that says the same as the one before is decided like any other: by
// the set, the switch and the stages of the moment, whatever came of the last.
func TestSeatAgain(t *testing.T) {
	e, r := staged(t, memstore.New(), twoRules)
	e.Swap(envoySet(t, "4"))
	seat := e.Seat()
	var d weir.Decision
	decide := func(step func(*weir.Request, *weir.Decision, func(error)), tenant string) {
		t.Helper()
		answered := false
		step(ask("tenant", tenant), &d, func(err error) {
			if answered = true; err != nil {
				t.Error(err)
			}
		})
		seat.Find()
		seat.Fetch()
		if seat.Run(); !answered {
			t.Fatal("not answered")
		}
	}
	known := func(tenant string) {
		t.Helper()
		got := slices.Clone(r.hints)
		check(t, e, ask("tenant", tenant))
		if len(got) != 1 || got[0] != r.hints[0] {
			t.Errorf("stages were told %+v of %s, want %+v", got, tenant, r.hints)
		}
	}
	is := func(verdict weir.Verdict, source weir.Source, limit int64) {
		t.Helper()
		if d.Verdict != verdict || d.Source != source || d.Limit.Count != limit || d.PolicyVersion != e.Set().Version() {
			t.Errorf("%+v, want verdict %v by %v, limit %d", d, verdict, source, limit)
		}
	}
	decide(seat.Prepare, "a")
	is(weir.Allow, weir.SourceStore, 4)
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceStore, 4)
	known("a") // the third
	r.all = true
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceSwitch, 0)
	decide(seat.Prepare, "b") // is let through before any stage is asked
	r.all = false
	decide(seat.Again, "b")
	is(weir.Allow, weir.SourceStore, 4)
	known("b")
	decide(seat.Prepare, "a")
	is(weir.Allow, weir.SourceStore, 4) // the fourth
	r.rule = "tenant"
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceSwitch, 0)
	r.rule = ""
	decide(seat.Again, "a")
	is(weir.Deny, weir.SourceStore, 4)
	e.Swap(envoySet(t, "9"))
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceStore, 9)
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceStore, 9)
	r.shuts = true
	decide(seat.Again, "a")
	is(weir.Allow, weir.SourceBackstop, 9)
	known("a")
}

// Turns are for a store in memory that is asked first.
func TestFetches(t *testing.T) {
	if e := start(t, memstore.New(), weir.Hooks{}, ""); !e.Fetches() {
		t.Error("nothing to fetch of a store in memory")
	}
	if e := start(t, later{memstore.New()}, weir.Hooks{}, ""); e.Fetches() {
		t.Error("something to fetch of a store elsewhere")
	}
	if e, _ := staged(t, memstore.New(), twoRules); e.Fetches() {
		t.Error("something to fetch of a store that others stand before")
	}
}
