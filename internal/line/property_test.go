package line_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/line"
)

// event is one thing that happens to a line.
type event struct {
	after weir.Micros
	kind  int // 0 to 3: an arrival of that class; 4: a departure; 5: the waiter'th gives up
	whom  int
}

// world is a line and who is in it.
type world struct {
	line    *line.Line
	now     weir.Micros
	waiting []*line.Waiter
	shed    []*line.Waiter // by the last event
	admits  []*line.Waiter
}

func newWorld(o line.Options) *world {
	w := &world{}
	o.Settled = func(x *line.Waiter) {
		if x.Answer == line.Inside {
			w.admits = append(w.admits, x)
		} else {
			w.shed = append(w.shed, x)
		}
		w.waiting = slices.DeleteFunc(w.waiting, func(y *line.Waiter) bool { return x == y })
	}
	w.line = line.New(o)
	return w
}

func (w *world) do(e event) line.Answer {
	w.now += e.after
	w.shed, w.admits = nil, nil
	switch {
	case e.kind < line.Classes:
		a, x := w.line.Arrive(w.now, e.kind)
		if x != nil {
			w.waiting = append(w.waiting, x)
		}
		return a
	case e.kind == line.Classes:
		if w.line.Inside() > 0 {
			w.line.Leave(w.now)
		}
	case len(w.waiting) > 0:
		x := w.waiting[e.whom%len(w.waiting)]
		w.waiting = slices.DeleteFunc(w.waiting, func(y *line.Waiter) bool { return x == y })
		w.line.GiveUp(w.now, x)
	}
	return line.Gone
}

func options(t *rapid.T) line.Options {
	return line.Options{
		Places: rapid.IntRange(1, 3).Draw(t, "places"), Waiting: rapid.IntRange(0, 9).Draw(t, "waiting"),
		Target: 20 * ms, Interval: 100 * ms, Recovery: 300 * ms,
	}
}

func events(t *rapid.T) []event {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
		return event{
			after: weir.Micros(rapid.SampledFrom([]int64{0, 0, 1, 5, 30, 110}).Draw(t, "after")) * ms,
			kind:  rapid.SampledFrom([]int{0, 1, 2, 3, 0, 1, 2, 3, 4, 4, 5}).Draw(t, "kind"),
			whom:  rapid.IntRange(0, 9).Draw(t, "whom"),
		}
	}), 0, 120).Draw(t, "events")
}

// TestOrder: whatever happened before, what is shed is never of a higher class
// than what would be let in at the same instant.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, history, gap := options(t), events(t), weir.Micros(rapid.SampledFrom([]int64{0, 30, 110}).Draw(t, "gap"))*ms
		higherShed := false
		for class := line.Classes - 1; class >= 0; class-- {
			w := newWorld(o)
			for _, e := range history {
				w.do(e)
			}
			a := w.do(event{after: gap, kind: class})
			if higherShed && !a.Shed() {
				t.Fatalf("class %d: %v, and one above is shed", class, a)
			}
			higherShed = a.Shed()
		}
	})
}

// TestInvariants hold after every event.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := options(t)
		w := newWorld(o)
		for _, e := range events(t) {
			before := slices.Clone(w.waiting)
			a := w.do(e)
			if w.line.Inside() > o.Places || w.line.Waiting() > o.Waiting || w.line.Waiting() != len(w.waiting) {
				t.Fatalf("%d inside, %d waiting, %d known to", w.line.Inside(), w.line.Waiting(), len(w.waiting))
			}
			if w.line.Inside() < o.Places && w.line.Waiting() > 0 {
				t.Fatal("they wait, and there is a place")
			}
			for _, x := range w.waiting {
				if x.Class < w.line.Level() {
					t.Fatalf("one of class %d waits at level %d", x.Class, w.line.Level())
				}
			}
			for _, x := range w.shed {
				for _, y := range w.waiting {
					if x.Class > y.Class {
						t.Fatalf("class %d was shed, and %d waits on", x.Class, y.Class)
					}
				}
			}
			for _, x := range w.admits {
				for _, y := range before {
					if y.Class > x.Class && !slices.Contains(w.shed, y) || y.Class == x.Class && y.Since < x.Since {
						t.Fatalf("class %d of %v came before class %d of %v", x.Class, x.Since, y.Class, y.Since)
					}
				}
			}
			if e.kind == line.Classes-1 && a.Shed() && (a != line.ShedFull || len(w.waiting) != o.Waiting ||
				slices.ContainsFunc(w.waiting, func(x *line.Waiter) bool { return x.Class < e.kind })) {
				t.Fatalf("one of the highest class: %v, and %d wait", a, len(w.waiting))
			}
		}
		// Whatever happened: once they are gone it recovers, and is as new.
		for w.line.Inside() > 0 {
			w.do(event{kind: line.Classes})
		}
		w.line.Observe(w.now)
		w.line.Observe(w.now + line.MaxLevel*o.Recovery)
		if !w.line.Calm() || w.line.Level() != 0 || len(w.waiting) > 0 {
			t.Fatalf("level %d, calm %v, %d waiting", w.line.Level(), w.line.Calm(), len(w.waiting))
		}
	})
}
