package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// historyCases returns a case per profile.
func historyCases() []Case {
	cases := make([]Case, len(profiles))
	for i := range profiles {
		pr := &profiles[i]
		cases[i] = Case{Name: "history/" + pr.name, needsClock: true, check: func(p *probe) { checkHistories(p, pr) }}
	}
	return cases
}

// checkHistories plays random scripts and compares each answer with Model's.
func checkHistories(p *probe, pr *profile) {
	for n := range uint64(historiesPerProfile * p.effort()) {
		seed := max(1, p.Seed) + n
		steps := generate(pr, seed)
		at, _ := mismatch(p, steps)
		if at < 0 {
			continue
		}
		steps = shrink(steps[:at+1], func(candidate []step) bool {
			at, _ := mismatch(p, candidate)
			return at >= 0
		})
		_, report := mismatch(p, steps)
		p.Fatalf("profile %s, seed %d: the store departs from the model. Least script:\n\n%s", pr.name, seed, report)
	}
}

// historiesPerProfile of stepsPerHistory keep a store with 200 us a call to a
// second or so for a profile.
const (
	historiesPerProfile = 40
	stepsPerHistory     = 60
)

// mismatch plays a script on the store and on a model, and returns the index
// of the first step whose answers differ with a text of all steps up to it, or
// -1. A script without a right answer, or from which shrinking has removed a
// limit that it needs, has no mismatch.
func mismatch(p *probe, steps []step) (at int, report string) {
	tag := p.tag + "-" + randomTag()
	want, got := newOracle(tag), newPlayer(p.Harness, tag)
	var b strings.Builder
	for i := range steps {
		s := &steps[i]
		wanted, err := want.play(s)
		if err != nil {
			return -1, ""
		}
		answered, err := got.play(s)
		if err != nil {
			return i, err.Error()
		}
		b.WriteString(s.String() + "\n")
		for _, line := range wanted {
			b.WriteString("  " + line + "\n")
		}
		if !slices.Equal(wanted, answered) {
			fmt.Fprintf(&b, "but the store says\n  %s\n", strings.Join(answered, "\n  "))
			return i, b.String()
		}
	}
	return -1, ""
}

// shrinkTime bounds the search for a smaller script: a reader waits for it.
const shrinkTime = 5 * time.Second

// shrink removes steps, in ever smaller pieces, as long as fails says that what
// is left still fails. Clock steps are absolute, so that removing one leaves
// the others' meaning.
func shrink(steps []step, fails func([]step) bool) []step {
	stop := time.Now().Add(shrinkTime)
	for size := len(steps) / 2; size >= 1; size /= 2 {
		steps = shrinkBy(size, steps, fails, stop)
	}
	steps = shrinkEntries(steps, fails, stop)
	return shrinkBy(1, steps, fails, stop) // limits that nothing uses any more
}

// shrinkBy tries to do without each piece of size steps, from the last on, as
// what comes first is what the rest builds on.
func shrinkBy(size int, steps []step, fails func([]step) bool, stop time.Time) []step {
	for from := len(steps) - size; from >= 0 && time.Now().Before(stop); from = min(from-size, len(steps)-size) {
		if shorter := slices.Concat(steps[:from], steps[from+size:]); fails(shorter) {
			steps = shorter
		}
	}
	return steps
}

// shrinkEntries does the same to the entries of the batches.
func shrinkEntries(steps []step, fails func([]step) bool, stop time.Time) []step {
	for i := range steps {
		for j := 0; j < len(steps[i].entries) && len(steps[i].entries) > 1; {
			if time.Now().After(stop) {
				return steps
			}
			smaller := slices.Clone(steps)
			smaller[i].entries = slices.Delete(slices.Clone(steps[i].entries), j, j+1)
			if fails(smaller) {
				steps = smaller
			} else {
				j++
			}
		}
	}
	return steps
}
