package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// broken is a store with one fault, and the cases that must reject it.
type broken struct {
	name     string
	rejected []string
	make     func() Harness
}

// TestBrokenStoresAreRejected is the test of the suite. Each broken store is
// tried by the cases that are named beside it; every one of them must fail.
func TestBrokenStoresAreRejected(t *testing.T) {
	cases := make(map[string]Case)
	for _, c := range Cases() {
		cases[c.Name] = c
	}
	for _, b := range brokenStores() {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			if len(b.rejected) == 0 {
				t.Fatal("no case is named that rejects it")
			}
			for _, name := range b.rejected {
				c, ok := cases[name]
				if !ok {
					t.Fatalf("there is no case %q", name)
				}
				r := try(t, c, func(testing.TB) Harness { return b.make() })
				if !r.Failed() {
					t.Errorf("%s accepts a store that %s", name, b.name)
					continue
				}
				first, _, _ := strings.Cut(r.failures()[0], "\n")
				t.Logf("%s: %.200s", name, first)
			}
		})
	}
}

// TestEveryCaseRejects holds that no case passes everything: each is named by
// a broken store that it rejects.
func TestEveryCaseRejects(t *testing.T) {
	var useful []string
	for _, b := range brokenStores() {
		useful = append(useful, b.rejected...)
	}
	for _, c := range Cases() {
		if !slices.Contains(useful, c.Name) {
			t.Errorf("no broken store shows that %s can fail", c.Name)
		}
	}
}

func brokenStores() []broken {
	return slices.Concat(brokenModes(), brokenStates(), brokenIDs(), brokenKeys(), brokenCalls(), brokenBatches(), brokenRaces(), brokenTwins())
}

// deciding is a Model that decides by other rules.
func deciding(decide func(m *Model, e *weir.Entry, now weir.Micros)) func() Harness {
	return func() Harness {
		m := NewModel()
		m.decide = decide
		return m.Harness()
	}
}

// asking is a Model that is asked something else than its caller asked.
func asking(edit func(e *weir.Entry)) func() Harness {
	return deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
		other := *e
		other.Charges = slices.Clone(e.Charges)
		edit(&other)
		m.decideLocked(&other, now)
		other.ID, other.Charges = e.ID, e.Charges
		*e = other
	})
}

// each is asking for edits of single charges.
func each(edit func(c *weir.Charge)) func() Harness {
	return asking(func(e *weir.Entry) {
		for i := range e.Charges {
			edit(&e.Charges[i])
		}
	})
}

// telling is a Model that does right and then says something else.
func telling(edit func(e *weir.Entry)) func() Harness {
	return deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
		m.decideLocked(e, now)
		edit(e)
	})
}

// tellingOf is telling for edits of single outcomes.
func tellingOf(edit func(c *weir.Charge, o *weir.Outcome)) func() Harness {
	return telling(func(e *weir.Entry) {
		for i := range e.Outcomes {
			edit(&e.Charges[i], &e.Outcomes[i])
		}
	})
}

// calling is a Model some of whose methods are replaced.
func calling(wrap func(m *Model) weir.Store) func() Harness {
	return func() Harness {
		m := NewModel()
		h := m.Harness()
		h.Store = wrap(m)
		return h
	}
}
