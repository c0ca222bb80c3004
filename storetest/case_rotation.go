package storetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/weirlimit/weir"
)

// rotation is a counter that changes its name at an instant, callers whose
// clocks differ by less than skew, and beside it a counter that keeps its name,
// on a Model: every answer must be the same.
type rotation struct {
	*probe
	*rand.Rand
	counter
	model   *Model
	now, at weir.Micros
	skew    weir.Micros
	offsets []weir.Micros // of the callers' clocks
	matters weir.Micros   // what was written by a caller before the end of the third phase
}

// limitsToRename free what they hold within seconds, so that a history sees it
// freed in every phase.
var limitsToRename = []string{
	"5/s burst 9", "7/s burst 4", "30011/s burst 40", "10/s burst 8 token_bucket", "4/s burst 6 leaky_bucket", "6/s fixed_window",
	"5/s", "40/2s", "6/s sliding_log", "4 concurrency 1s",
}

// checkRotation plays callers in all phases, one at first, then two and three
// with clocks apart.
func checkRotation(p *probe) {
	for n := range 3 * p.effort() {
		for i, text := range limitsToRename {
			seed := max(1, p.Seed) + uint64(n)
			r := &rotation{
				probe: p, Rand: rand.New(rand.NewPCG(seed, uint64(i))), model: NewModel(),
				counter: p.counter(fmt.Sprint("rotation ", n, text), meter(text)),
				now:     Base, at: Base + 4*weir.Second, skew: weir.Second,
			}
			for range 1 + n%3 {
				r.offsets = append(r.offsets, weir.Micros(r.Int64N(int64(r.skew))))
			}
			r.offsets[0] = 0 // the last to learn of anything
			if report := r.play(); report != "" {
				p.Fatalf("%s, seed %d: the counter departs from one that keeps its name:\n%s", text, seed, report)
			}
		}
	}
}

// phaseOf is the phase of a caller.
func (r *rotation) phaseOf(caller int) phase {
	switch clock := r.now + r.offsets[caller]; {
	case clock < r.at-r.skew:
		return phaseOld
	case clock < r.at:
		return phaseNext
	case clock < r.at+r.skew:
		return phaseLast
	case clock <= max(r.matters, r.at+2*r.skew)+r.skew:
		return phaseLeft
	}
	return phaseNew
}

// play returns what was asked and answered up to the first wrong answer, or "".
func (r *rotation) play() string {
	var lines []string
	for ended := 0; ended < 20; {
		if r.IntN(3) > 0 {
			r.now += weir.Micros(r.Int64N(int64(150 * weir.Millisecond)))
		}
		r.SetClock(r.now)
		r.model.SetClock(r.now)
		renamed, kept := r.batch()
		r.patient().decide(&renamed)
		patient{r.model}.decide(&kept)
		for i := range renamed.Entries {
			got, want := &renamed.Entries[i], &kept.Entries[i]
			c := got.Charges[0]
			lines = append(lines, fmt.Sprintf("+%s twinning %s %s %d id=%s: %s", spanText(r.now-Base), c.Twinning, c.Mode, c.Cost, got.ID, verdictText(want)))
			if got.Err != nil || verdictText(got) != verdictText(want) {
				return indented(append(lines[max(0, len(lines)-30):], fmt.Sprintf("but the store says %s (%v)", verdictText(got), got.Err)))
			}
			if r.now < r.at+2*r.skew && len(want.Outcomes) > 0 {
				r.matters = max(r.matters, r.now+want.Outcomes[0].ResetAfter)
			}
		}
		if r.phaseOf(0) == phaseNew {
			ended++
		}
	}
	return ""
}

func verdictText(e *weir.Entry) string {
	if len(e.Outcomes) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("admitted %v replayed %v %s", e.Admitted, e.Replayed, outcomeText(&e.Outcomes[0]))
}

// batch is what one or more callers ask, by the names they know and by the one
// that stays.
func (r *rotation) batch() (renamed, kept weir.Batch) {
	for range 1 + r.IntN(3) {
		ph := r.phaseOf(r.IntN(len(r.offsets)))
		id, cost, mode := r.ask(ph)
		renamed.Entries = append(renamed.Entries, weir.Entry{ID: id, Charges: []weir.Charge{r.in(ph, cost, mode)}})
		kept.Entries = append(kept.Entries, weir.Entry{ID: id, Charges: []weir.Charge{r.in(phaseOld, cost, mode)}})
	}
	return renamed, kept
}

// ask draws a charge. An id may have been used before, but not across the end.
func (r *rotation) ask(ph phase) (id string, cost int64, mode weir.Mode) {
	cost = 1 + r.Int64N(3)
	slots := r.m.Machine == weir.Slots
	switch n := r.IntN(20); {
	case n < 10:
	case n < 14:
		mode = weir.Refund
	case n < 15:
		mode = weir.Peek
	case n < 16:
		mode = weir.Shadow
	case n < 17:
		cost = 0
	case slots:
	case n < 18:
		mode = weir.Always
	default:
		mode = weir.UpTo
	}
	if !slots && r.IntN(3) > 0 {
		return "", cost, mode
	}
	id = fmt.Sprint(r.IntN(5))
	if !slots {
		id += map[bool]string{true: " after the end"}[ph == phaseNew]
	}
	return id, cost, mode
}

// checkRotationParallel has callers in neighbouring phases charge a counter at
// once: together they get what it holds, and what they give back is there again.
func checkRotationParallel(p *probe) {
	const rounds = 30
	m := still(200)
	for _, pair := range [][2]phase{{phaseOld, phaseNext}, {phaseNext, phaseLast}, {phaseLast, phaseLeft}, {phaseLeft, phaseNew}} {
		c := p.counter(fmt.Sprint("parallel ", pair), m)
		p.take("", c.in(pair[0], 1, weir.Enforce))
		sums := make([]int64, workers)
		p.parallel(workers, func(w int) error {
			for i := range rounds {
				mode := weir.Enforce
				if (w+i)%3 == 0 {
					mode = weir.Refund
				}
				e := p.ask(weir.Entry{Charges: []weir.Charge{c.in(pair[(w+i/2)%2], 2, mode)}})[0]
				if e.Err != nil {
					return e.Err
				}
				if mode == weir.Refund {
					sums[w] -= e.Outcomes[0].Granted
				} else {
					sums[w] += e.Outcomes[0].Granted
				}
			}
			return nil
		})
		want := int64(1)
		for _, n := range sums {
			want += n
		}
		if want < 0 || want > m.Capacity {
			p.Fatalf("%s: %d units were granted and not given back, of %d", pair, want, m.Capacity)
		}
		p.found(p.take("", c.in(pair[0], 0, weir.Peek)), want)
		p.found(p.take("", c.in(pair[1], 0, weir.Peek)), want)
	}
}

// checkRotationAcrossSlots charges counters in two hash tags while their names
// change: what was charged in vain is given back under the names it has by then.
func checkRotationAcrossSlots(p *probe) {
	const rounds = 20
	small, large := still(20), still(10_000)
	full := counter{old: p.key("full old@1"), new: p.key("full new@1"), m: small}
	wide := counter{old: p.key("wide old@2"), new: p.key("wide new@2"), m: large}
	sums := p.churn(func(w, i int) []weir.Charge {
		ph := phaseNext + phase((w+i)%2)
		if i >= rounds {
			ph++
		}
		return []weir.Charge{wide.in(ph, 3, weir.Enforce), full.in(ph, 1, weir.Enforce)}
	})
	got := sums[full.old] + sums[full.new]
	if got != small.Capacity || sums[wide.old]+sums[wide.new] != 3*got {
		p.Fatalf("granted %d of %d, and %d beside it", got, small.Capacity, sums[wide.old]+sums[wide.new])
	}
	p.eventuallyFound(full, got)
	p.eventuallyFound(wide, 3*got)
}
