package sim

import (
	"fmt"
	"slices"

	"github.com/weirlimit/weir"
)

// told is what a caller was told, and when.
type told struct {
	at weir.Micros
	answer
}

// flood: a tenant that floods changes no decision of another. The run is played
// twice, without it and with it. A flood of a few counters changes nothing that
// the other is told. One of more counters than a node remembers may change where
// a decision is made, and not the decision.
func flood(w *world) {
	many := w.plan.IntN(2) == 0
	calm := w.floodOnce(false, many)
	again := newWorld(w.seed, w.seams, w.report)
	again.plan.IntN(2)
	rough := again.floodOnce(true, many)
	if w.report.Check != "" {
		return
	}
	if many {
		onlyVerdicts(calm)
		onlyVerdicts(rough)
	}
	if i := differ(calm, rough); i >= 0 {
		again.fail("isolation", "decision %d of the tenant beside the flood: %s without it, %s with it", i, at(calm, i), at(rough, i))
	}
}

func onlyVerdicts(list []told) {
	for i := range list {
		list[i] = told{answer: answer{admitted: list[i].admitted}}
	}
}

func differ(a, b []told) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func at(list []told, i int) string {
	if i >= len(list) {
		return "none"
	}
	return fmt.Sprintf("%+v", list[i])
}

// floodOnce plays it, and returns what the quiet tenant was told.
func (w *world) floodOnce(floods, many bool) (out []told) {
	r := w.plan
	s := shape{
		nodes: 1 + r.IntN(3), shards: 1, hotRate: 10, evenChance: true,
		leases: !many && r.IntN(2) == 0, denials: 512, delay: weir.Micros(r.Int64N(int64(3 * weir.Millisecond))),
	}
	if many {
		s.denials = 40 // one table, so that what is forgotten does not depend on the process
	}
	w.build(s)
	limit := drawLimit(r, 20, 150, weir.GCRA, weir.SlidingWindow, weir.FixedWindow)
	quiet := w.add(1, false, limit)
	end := 2 * weir.Second
	d := demand{every: weir.Micros(float64(limit.Window) / float64(limit.Count) / (0.5 + 1.5*r.Float64())), only: -1, ends: end}
	quiet.come(d)
	counters := int(between(r, 1, 3))
	if many {
		counters = 100
	}
	d.every = max(d.every/10, 300) * weir.Micros(counters)
	for range counters {
		t := w.add(1, false, limit)
		t.silent = !floods
		t.come(d)
	}
	w.onEach = func(q *request, a answer) {
		if q.t == quiet {
			out = append(out, told{w.now, a})
		}
	}
	w.play(end)
	return slices.Clip(out)
}
