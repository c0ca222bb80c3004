package shed_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/shed"
)

func worker(t testing.TB, o shed.Options) *shed.Worker {
	t.Helper()
	w, err := shed.NewWorker(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// enter enters, and fails the test when that is refused.
func enter(t testing.TB, w *shed.Worker, p shed.Priority) *shed.Ticket {
	t.Helper()
	ticket, why := w.Enter(t.Context(), p)
	if why != shed.Admitted {
		t.Fatalf("%v: %v", p, why)
	}
	return &ticket
}

// refused enters and returns why not.
func refused(t testing.TB, w *shed.Worker, p shed.Priority) shed.Reason {
	t.Helper()
	ticket, why := w.Enter(t.Context(), p)
	ticket.Leave() // of no place: does nothing
	return why
}

func TestPlacesAndLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []shed.Priority
		w := worker(t, shed.Options{Places: 2, Waiting: 4, Hooks: shed.Hooks{
			Waited: func(p shed.Priority, wait time.Duration) {
				if wait != 10*time.Millisecond {
					t.Errorf("%v waited for %v", p, wait)
				}
				waited = append(waited, p)
			},
		}})
		a, b := enter(t, w, shed.Test), enter(t, w, shed.Read)
		var order []shed.Priority
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, p := range []shed.Priority{shed.Test, shed.Write, shed.Critical} {
			all.Go(func() {
				ticket := enter(t, w, p)
				mu.Lock()
				order = append(order, p)
				mu.Unlock()
				ticket.Leave()
			})
			synctest.Wait()
		}
		if s := w.Stats(); s.Inside != 2 || s.Waiting != 3 {
			t.Errorf("%+v", s)
		}
		time.Sleep(10 * time.Millisecond)
		a.Leave()
		a.Leave() // a second time is none
		all.Wait()
		b.Leave()
		if want := []shed.Priority{shed.Critical, shed.Write, shed.Test}; !slices.Equal(order, want) || !slices.Equal(waited, want) {
			t.Errorf("order %v, waited %v", order, waited)
		}
		if s := w.Stats(); s.Inside != 0 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestStanding: while the line stands test goes first, then read, then write;
// critical requests wait. Then all come back, one after the other.
func TestStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worker(t, shed.Options{Places: 1, Waiting: 8, MaxWait: time.Minute})
		stuck := enter(t, w, shed.Critical)
		var waiting sync.WaitGroup
		waiting.Go(func() { enter(t, w, shed.Critical).Leave() })
		synctest.Wait()
		time.Sleep(21 * time.Millisecond) // above the target, and not for long
		all := []shed.Priority{shed.Test, shed.Read, shed.Write}
		w.Stats() // looks
		for level := range all {
			time.Sleep(100 * time.Millisecond)
			for i, p := range all {
				if i > level {
					break // they would wait
				}
				if got := refused(t, w, p); got != shed.Overload {
					t.Errorf("level %d: %v: %v", level+1, p, got)
				}
			}
			if s := w.Stats(); s.Level != level+1 {
				t.Errorf("level %d, want %d", s.Level, level+1)
			}
		}
		waiting.Go(func() { enter(t, w, shed.Critical).Leave() }) // critical waits on
		synctest.Wait()
		stuck.Leave()
		waiting.Wait()
		for level := 3; level > 0; level-- {
			if got := refused(t, w, all[level-1]); got != shed.Overload {
				t.Errorf("level %d: %v: %v", level, all[level-1], got)
			}
			if level < len(all) {
				enter(t, w, all[level]).Leave()
			}
			time.Sleep(time.Second)
		}
		enter(t, w, shed.Test).Leave()
		s := w.Stats()
		if s.Level != 0 || s.Inside != 0 || s.Shed[shed.Critical.Index()] != [shed.Reasons]uint64{} ||
			s.Shed[shed.Test.Index()][shed.Overload] != 4 {
			t.Errorf("%+v", s)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worker(t, shed.Options{Places: 1, Waiting: 4, MaxWait: 50 * time.Millisecond})
		held := enter(t, w, shed.Write)
		began := time.Now()
		if got := refused(t, w, shed.Critical); got != shed.WaitedOut || time.Since(began) != 50*time.Millisecond {
			t.Errorf("%v after %v", got, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if _, got := w.Enter(ctx, shed.Critical); got != shed.Gone {
			t.Errorf("whose caller is gone: %v", got)
		}
		held.Leave()
		if s := w.Stats(); s.Inside != 0 || s.Waiting != 0 || s.Shed[shed.Critical.Index()][shed.WaitedOut] != 1 {
			t.Errorf("%+v", s)
		}
		enter(t, w, shed.Critical).Leave()
	})
}

// TestGoneWithAPlace: a place that is given to one who leaves at that moment is
// given back.
func TestGoneWithAPlace(t *testing.T) {
	w := worker(t, shed.Options{Places: 1, Waiting: 4, MaxWait: time.Minute})
	for range 300 { // who is first is up to chance
		held := enter(t, w, shed.Write)
		ctx, cancel := context.WithCancel(t.Context())
		var one sync.WaitGroup
		one.Go(func() {
			ticket, why := w.Enter(ctx, shed.Critical)
			if why != shed.Admitted && why != shed.Gone {
				t.Errorf("%v", why)
			}
			ticket.Leave()
		})
		for w.Stats().Waiting == 0 {
			runtime.Gosched()
		}
		held.Leave()
		cancel()
		one.Wait()
		if s := w.Stats(); s.Inside != 0 || s.Waiting != 0 {
			t.Fatalf("%+v", s)
		}
	}
}

func TestDisplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worker(t, shed.Options{Places: 1, Waiting: 1})
		held := enter(t, w, shed.Read)
		var all sync.WaitGroup
		all.Go(func() {
			if got := refused(t, w, shed.Test); got != shed.LineFull {
				t.Errorf("the one in the line: %v", got)
			}
		})
		synctest.Wait()
		all.Go(func() { enter(t, w, shed.Critical).Leave() })
		synctest.Wait()
		if got := refused(t, w, shed.Write); got != shed.LineFull {
			t.Errorf("the next: %v", got)
		}
		held.Leave()
		all.Wait()
	})
}

// TestShadow: everything is let in at once, and counted is what would not be.
func TestShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := worker(t, shed.Options{Places: 1, Waiting: 2, Shadow: true, Hooks: shed.Hooks{
			Shed: func(p shed.Priority, why shed.Reason, shadow bool) {
				if !shadow {
					t.Error("it is in shadow")
				}
				told = append(told, p.String()+" "+why.String())
			},
		}})
		began := time.Now()
		inside, next := enter(t, w, shed.Write), enter(t, w, shed.Write) // would wait
		out := enter(t, w, shed.Test)                                    // no room for it
		third := enter(t, w, shed.Critical)
		if time.Since(began) != 0 {
			t.Errorf("waited for %v", time.Since(began))
		}
		if s := w.Stats(); s.Inside != 1 || s.Waiting != 2 {
			t.Errorf("%+v", s)
		}
		inside.Leave()
		third.Leave() // has had a place since
		time.Sleep(2 * time.Second)
		long := enter(t, w, shed.Read) // would wait, and longer than it may
		time.Sleep(time.Second)
		long.Leave()
		out.Leave()
		next.Leave()
		if want := []string{"test line_full", "read waited_out"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if s := w.Stats(); s.Inside != 0 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestStorm: many at once on real threads; never more inside than there are
// places, and in the end nobody.
func TestStorm(t *testing.T) {
	w := worker(t, shed.Options{Places: 3, Waiting: 5, Target: time.Millisecond, Interval: time.Millisecond, Recovery: time.Millisecond, MaxWait: time.Millisecond})
	var inside, served, most atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 300 {
				ctx, cancel := context.WithCancel(t.Context())
				if n%7 == 0 {
					cancel()
				}
				ticket, why := w.Enter(ctx, shed.Test+shed.Priority((i+n)%weir.Priorities))
				if why == shed.Admitted {
					now := inside.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					served.Add(1)
					if n%5 == 0 {
						time.Sleep(100 * time.Microsecond)
					}
					inside.Add(-1)
					ticket.Leave()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if most.Load() > 3 || served.Load() == 0 {
		t.Errorf("%d inside at once, %d served", most.Load(), served.Load())
	}
	if s := w.Stats(); s.Inside != 0 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	shedded := uint64(0)
	for _, of := range w.Stats().Shed {
		for _, n := range of {
			shedded += n
		}
	}
	if served.Load()+int64(shedded) != 16*300 {
		t.Errorf("%d served and %d shed of %d", served.Load(), shedded, 16*300)
	}
}

func TestBadOptions(t *testing.T) {
	for field, o := range map[string]shed.Options{
		"places":   {},
		"waiting":  {Places: 1, Waiting: shed.MaxWaiting + 1},
		"target":   {Places: 1, Target: time.Microsecond},
		"interval": {Places: 1, Interval: -time.Second},
		"recovery": {Places: 1, Recovery: 2 * time.Hour},
		"max_wait": {Places: 1, MaxWait: 1},
	} {
		_, err := shed.NewWorker(o)
		if e, ok := err.(*weir.Error); !ok || e.Code != weir.CodeInvalid || e.Field != field || e.Hint == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	none := worker(t, shed.Options{Places: 1, Waiting: -1})
	held := enter(t, none, shed.Test)
	if got := refused(t, none, shed.Critical); got != shed.LineFull {
		t.Errorf("without a line: %v", got)
	}
	held.Leave()
}

func TestReasonsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range shed.Reasons + 1 {
		seen[shed.Reason(r).String()] = true
	}
	if len(seen) != shed.Reasons+1 {
		t.Errorf("%v", seen)
	}
}
