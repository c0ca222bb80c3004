package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/weirlimit/weir"
)

// Run plays the run of a seed and returns what it found.
func Run(seed uint64) *Report { return run(seed, seams{}) }

// scenarios are what a run can be about; a seed's number says which.
var scenarios = []struct {
	name string
	play func(w *world)
}{
	{"chaos", chaos},
	{"blackout", blackout},
	{"chaos", chaos},
	{"steady", steady},
	{"chaos", chaos},
	{"lone", lone},
	{"chaos", chaos},
	{"flood", flood},
}

func run(seed uint64, s seams) *Report {
	sc := scenarios[seed%uint64(len(scenarios))]
	report := &Report{Seed: seed, Scenario: sc.name, Faults: map[string]int{}}
	sc.play(newWorld(seed, s, report))
	return report
}

// add is tenant for limits that are drawn, which are valid.
func (w *world) add(costs int64, strict bool, limits ...weir.Limit) *tenant {
	t, err := w.tenant(costs, strict, limits...)
	if err != nil {
		w.fail("plan", "a limit is not valid: %v", err)
		return nil
	}
	return t
}

func between(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

// drawLimit draws a limit of so many units a second.
func drawLimit(r *rand.Rand, low, high int64, algorithms ...weir.Algorithm) weir.Limit {
	l := weir.Limit{Algorithm: algorithms[r.IntN(len(algorithms))], Window: weir.Micros(between(r, 1, 3)) * weir.Second}
	l.Count = between(r, low, high) * int64(l.Window/weir.Second)
	switch l.Algorithm {
	case weir.GCRA, weir.TokenBucket, weir.LeakyBucket:
		l.Burst = max(1, int64(float64(l.Count)*(0.1+2*r.Float64())))
	}
	return l
}

// chaos: everything at once, and faults. Once they are over, the store decides.
func chaos(w *world) {
	r := w.plan
	s := shape{
		nodes: 1 + r.IntN(5), shards: 1 + r.IntN(2), leases: r.IntN(4) > 0, hotRate: 10,
		delay: weir.Micros(r.Int64N(int64(4 * weir.Millisecond))),
	}
	if r.IntN(4) > 0 {
		s.denials = 512
	}
	w.build(s)
	active := weir.Micros(between(r, 2, 5)) * weir.Second
	end := active + recovery + weir.Second
	for range between(r, 1, 3) {
		limits := []weir.Limit{drawLimit(r, 5, 150, weir.GCRA, weir.GCRA, weir.SlidingWindow, weir.FixedWindow)}
		if r.IntN(3) == 0 { // two, that are leased together
			limits[0] = drawLimit(r, 60, 150, weir.GCRA, weir.FixedWindow)
			limits = append(limits, drawLimit(r, 60, 150, weir.GCRA, weir.SlidingWindow))
		}
		t := w.add(max(1, between(r, -4, 3)), r.IntN(5) == 0, limits...)
		d := demand{
			every: weir.Micros(float64(limits[0].Window) / float64(limits[0].Count) / (0.4 + 5*r.Float64()*r.Float64())),
			even:  r.IntN(3) == 0, only: -1, ends: active,
		}
		if r.IntN(3) == 0 {
			d.on, d.off = weir.Micros(between(r, 50, 800))*weir.Millisecond, weir.Micros(between(r, 50, 1500))*weir.Millisecond
		}
		t.come(d)
		// Afterwards every node is asked now and then.
		t.come(demand{every: 100 * weir.Millisecond / weir.Micros(s.nodes), even: true, only: -1, begins: active, ends: end})
	}
	w.breakThings(int(between(r, 0, 4)), 300*weir.Millisecond, active)
	w.play(end)
	for _, n := range w.nodes {
		if n.backed <= w.healed {
			w.fail("dead", "node %d has not heard from the store since the last fault", n.id)
		}
	}
}

// blackout: the store is away for all, and forgets everything or nothing. All
// nodes are asked all the time for more than the limit, so all know what is left:
// then the outage and what is lost in it cost one burst together, and the rate is
// not counted twice.
//
//	admitted <= 2 x burst + rate x T
//
// A node whose breaker is still open when the store is back has its share of the
// rate on top, until it closes.
func blackout(w *world) {
	r := w.plan
	s := shape{nodes: 1 + r.IntN(4), shards: 1, delay: weir.Micros(r.Int64N(int64(2 * weir.Millisecond)))}
	if r.IntN(2) == 0 {
		s.denials = 512
	}
	w.build(s)
	rate := between(r, 20, 60)
	l := weir.Limit{Algorithm: weir.GCRA, Count: rate, Window: weir.Second, Burst: rate * between(r, 3, 6)}
	t := w.add(1, false, l)
	fills := weir.Micros(l.Burst/rate) * weir.Second
	begin := fills + weir.Second
	away := weir.Micros(between(r, 1, 8)) * weir.Second
	end := begin + away + recovery
	t.come(demand{every: weir.Second / weir.Micros(rate*3), even: true, only: -1, ends: end})
	w.at(begin, func() { w.servers[0].kill() })
	w.healed = begin + away
	forgets := r.IntN(2) == 0
	w.report.Faults["blackout"]++
	w.at(begin+away, func() {
		if forgets {
			w.servers[0].wipe()
			return
		}
		w.servers[0].state = up
	})
	total := int64(0)
	w.onEach = func(_ *request, a answer) {
		if a.admitted {
			total++
		}
		// What a node knows is a second old where a deny cache answers, and its share
		// is a whole number.
		slack := float64(rate)*fastest*float64(weir.Second+patience)/float64(weir.Second) + 2*float64(s.nodes)
		most := 2*float64(l.Burst) + float64(rate)*fastest*float64(w.now)/float64(weir.Second)
		for _, n := range w.nodes { // until its breaker closes, a node has its share beside the store
			most += float64(rate) / float64(s.nodes) * fastest * float64(max(0, n.stood-w.healed)) / float64(weir.Second)
		}
		if float64(total) > most+slack {
			w.fail("outage", "%d admitted, %.1f more than two bursts of %d and the rate", total, float64(total)-most, l.Burst)
		}
	}
	sent := make([]int, s.nodes)
	w.onSend = func(n *node) {
		if w.now > begin+2*weir.Second && w.now < w.healed {
			sent[n.id]++
		}
	}
	w.play(end)
	for i, n := range sent {
		// A breaker that has opened tries again every 250 ms at the soonest.
		if most := 4*int((away-2*weir.Second)/weir.Second) + 1; n > max(0, most) {
			w.fail("shut", "node %d sent %d calls to a server that has been away for two seconds", i, n)
		}
	}
}

// leastUsed is the part of a limit that must be used under a demand above it.
const leastUsed = 0.98

// steady: a demand above the limit and no faults. Leases cost next to nothing: at
// least 98% of the limit is used. Of a demand that comes by chance, a sliding
// window may leave more than that: then it is 98% of what is used without leases.
func steady(w *world) {
	used, problem := w.steadily(true)
	w.report.Used = used
	if used >= leastUsed || w.report.Check != "" {
		return
	}
	without := newWorld(w.seed, w.seams, &Report{})
	most, _ := without.steadily(false)
	if used < leastUsed*most {
		w.fail("used", "%s, and %.2f%% without leases", problem, 100*most)
	}
}

// steadily plays it, and returns the part of the limit that is used.
func (w *world) steadily(leases bool) (used float64, what string) {
	r := w.plan
	s := shape{nodes: 1 + r.IntN(4), shards: 1, leases: leases, denials: 512, delay: weir.Micros(r.Int64N(int64(2 * weir.Millisecond)))}
	w.build(s)
	l := drawLimit(r, 100, 300, weir.GCRA, weir.SlidingWindow, weir.FixedWindow)
	if l.Window > 2*weir.Second { // some windows are looked at
		l.Window, l.Count = weir.Second, l.Count/3
	}
	if l.Burst > 0 {
		l.Burst = max(l.Burst, l.Count/2)
	}
	t := w.add(1, false, l)
	warm := 3 * l.Window
	warm += l.Window - w.servers[0].clock.at(warm)%l.Window // whole windows are looked at
	span := 12 * weir.Second
	factor := 1.2 + 1.3*r.Float64()
	t.come(demand{
		every: weir.Micros(float64(l.Window) / float64(l.Count) / factor), even: r.IntN(2) == 0, only: -1, ends: warm + span,
	})
	admitted := int64(0)
	w.onEach = func(_ *request, a answer) {
		if a.admitted && w.now >= warm {
			admitted++
		}
	}
	w.play(warm + span)
	used = float64(admitted) / float64(l.Count) / float64(span/l.Window)
	return used, fmt.Sprintf("%.2f%% of %s is used, of %d nodes at %.2f times the limit", 100*used, l, s.nodes, factor)
}

// lone: one node, one caller, no faults. Who is denied is admitted after
// retry-after, and where messages take no time, not a microsecond before.
func lone(w *world) {
	r := w.plan
	s := shape{nodes: 1, shards: 1, exact: true}
	if r.IntN(2) == 0 {
		s.delay = weir.Micros(1 + r.Int64N(int64(3*weir.Millisecond)))
	}
	if r.IntN(2) == 0 {
		s.denials = 512
	}
	w.build(s)
	limits := []weir.Limit{drawLimit(r, 1, 20, weir.GCRA, weir.SlidingWindow, weir.FixedWindow, weir.LeakyBucket, weir.SlidingLog)}
	if r.IntN(3) == 0 {
		limits = append(limits, drawLimit(r, 1, 20, weir.GCRA, weir.SlidingWindow))
	}
	costs := between(r, 1, 4)
	for _, l := range limits {
		costs = min(costs, l.Capacity())
	}
	t := w.add(costs, false, limits...)
	n := w.nodes[0]
	end := 60 * weir.Second
	var next func()
	next = func() {
		cost := 1 + t.gen.Int64N(costs)
		n.check(t, cost, func(a answer) {
			if a.admitted {
				w.after(weir.Micros(t.gen.ExpFloat64()*float64(100*weir.Millisecond)), next)
				return
			}
			again := func() {
				n.check(t, cost, func(b answer) {
					if !b.admitted {
						w.fail("retry", "a request of %d is denied after the %d us that it was told to wait, and told %d us", cost, a.retry, b.retry)
					}
					w.after(1, next)
				})
			}
			if s.delay > 0 {
				w.after(a.retry, again)
				return
			}
			w.after(a.retry-1, func() {
				n.check(t, cost, func(b answer) {
					if b.admitted {
						w.fail("retry", "a request of %d that was told to wait %d us is admitted one before", cost, a.retry)
					}
				})
			})
			w.after(a.retry, again)
		})
	}
	w.at(0, next)
	w.play(end)
}
