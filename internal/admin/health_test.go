package admin

import (
	"reflect"
	"slices"
	"sync"
	"testing"
)

func TestHealthStates(t *testing.T) {
	h := NewHealth("policies", "store")
	for _, s := range []struct {
		name string
		do   func()
		want Status
	}{
		{"at first", func() {}, Status{State: "starting", Reasons: []string{"waiting for policies", "waiting for store"}}},
		{"an unknown part", func() { h.Started("moon") }, Status{State: "starting", Reasons: []string{"waiting for policies", "waiting for store"}}},
		{"one part", func() { h.Started("policies") }, Status{State: "starting", Reasons: []string{"waiting for store"}}},
		{"the same part", func() { h.Started("policies") }, Status{State: "starting", Reasons: []string{"waiting for store"}}},
		{"the other part", func() { h.Started("store") }, Status{State: "ready", Ready: true, Reasons: []string{}}},
		{"degraded", func() { h.Degrade("store", "away"); h.Degrade("policies", "stale") }, Status{State: "ready", Ready: true, Degraded: true, Reasons: []string{"policies: stale", "store: away"}}},
		{"another reason", func() { h.Degrade("store", "read only") }, Status{State: "ready", Ready: true, Degraded: true, Reasons: []string{"policies: stale", "store: read only"}}},
		{"restored", func() { h.Restore("policies"); h.Restore("moon") }, Status{State: "ready", Ready: true, Degraded: true, Reasons: []string{"store: read only"}}},
		{"draining", h.Drain, Status{State: "draining", Degraded: true, Reasons: []string{"shutting down", "store: read only"}}},
		{"no way back", func() { h.Started("store"); h.Restore("store") }, Status{State: "draining", Reasons: []string{"shutting down"}}},
	} {
		s.do()
		if got := h.Status(); !reflect.DeepEqual(got, s.want) || h.State().String() != s.want.State {
			t.Errorf("%s: %+v, want %+v", s.name, got, s.want)
		}
	}
}

func TestHealthDrainsWhileItStarts(t *testing.T) {
	h := NewHealth("store")
	h.Drain()
	h.Started("store")
	if h.State() != Draining {
		t.Errorf("%v", h.State())
	}
}

func TestZeroHealthIsReady(t *testing.T) {
	var h Health
	if h.State() != Ready {
		t.Errorf("%v", h.State())
	}
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{Starting: "starting", Ready: "ready", Draining: "draining", 9: "state(9)"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s, want)
		}
	}
}

func TestWatchersAreTold(t *testing.T) {
	h := NewHealth("a", "b")
	var seen []State
	h.Watch(func(s State) { seen = append(seen, s) })
	h.Started("a")
	h.Degrade("a", "why")
	h.Started("b")
	h.Started("b")
	h.Drain()
	h.Drain()
	if want := []State{Starting, Ready, Draining}; !slices.Equal(seen, want) {
		t.Errorf("told %v, want %v", seen, want)
	}
	h.Watch(func(s State) { seen = append(seen, s) })
	if len(seen) != 4 || seen[3] != Draining {
		t.Errorf("a late watcher was told %v", seen[3:])
	}
}

// However Started and Drain race, the last word is draining, and a watcher may
// look at the state.
func TestTheLastWordIsDraining(t *testing.T) {
	for range 200 {
		h := NewHealth("store")
		var last State
		h.Watch(func(s State) { last = s; h.Status() })
		var wg sync.WaitGroup
		wg.Go(func() { h.Started("store") })
		wg.Go(h.Drain)
		wg.Go(func() { h.Degrade("store", "x"); h.Status() })
		wg.Wait()
		if last != Draining {
			t.Fatalf("the last word is %v", last)
		}
	}
}
