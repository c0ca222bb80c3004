package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

// world is one run.
type world struct {
	loop
	seed    uint64
	plan    *rand.Rand // for what is decided before time begins, and for faults
	shape   shape
	seams   seams
	servers []*server
	nodes   []*node
	tenants []*tenant
	byKey   map[string]*tenant
	loss    float64     // the part of messages that is lost
	healed  weir.Micros // when the last fault is over
	report  *Report
	onEach  func(r *request, a answer) // what a scenario wants to know
	onSend  func(n *node)
}

// shape is what a scenario says of a world.
type shape struct {
	nodes, shards int
	leases        bool
	hotRate       float64
	denials       int         // counters that a deny cache knows of
	delay         weir.Micros // of a message, at most
	exact         bool        // clocks do not drift
	evenChance    bool        // chance is the same for all requests
}

// seams are where tests break something, to see that it is noticed.
type seams struct {
	tierClock func(weir.Micros) weir.Micros // what the local tier takes for the time
	instances int                           // what leases take for the number of nodes
	deaf      bool                          // the backstop does not learn
	breaker   breaker.Config
	blind     bool // losses are not counted
	store     func(*node) weir.Store
	named     func(key string) string // what nodes call a counter
}

func newWorld(seed uint64, s seams, report *Report) *world {
	w := &world{seed: seed, seams: s, byKey: map[string]*tenant{}, report: report}
	w.plan = w.stream(0)
	return w
}

// build makes servers and nodes; tenants come after it.
func (w *world) build(s shape) {
	w.shape = s
	for i := range s.shards {
		w.servers = append(w.servers, newServer(w, i))
	}
	for i := range s.nodes {
		w.nodes = append(w.nodes, newNode(w, i))
	}
	if !s.exact {
		return
	}
	for _, x := range w.servers {
		x.clock.ppm = 0
	}
	for _, n := range w.nodes {
		n.clock.ppm = 0
	}
}

// stream is a source of chance that no other draws from: what one tenant does
// must not change what another draws.
func (w *world) stream(id uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, id)) }

func (w *world) chanceOf(n *node) func() uint32 {
	if w.shape.evenChance {
		return func() uint32 { return 0 }
	}
	return n.chance.Uint32
}

func (w *world) tenantOf(key string) *tenant { return w.byKey[key] }

func (w *world) countersOf(shard int) (out []*counter) {
	for _, t := range w.tenants {
		if t.shard == shard {
			out = append(out, t.counters...)
		}
	}
	return out
}

func (w *world) note(what string, a, b int64) {
	w.log.add(note{at: w.now, what: what, node: -1, a: a, b: b})
}

// fail notes the first thing that is wrong; the run ends.
func (w *world) fail(check, format string, args ...any) {
	if w.report.Check != "" {
		return
	}
	w.report.Check = check
	w.report.Problem = fmt.Sprintf(format, args...)
}

// play lets time pass.
func (w *world) play(until weir.Micros) {
	w.until = until
	w.run(func() bool { return w.report.Check != "" })
	if w.report.Check == "" {
		w.now = until
	}
	w.report.Trace, w.report.Print = w.log.trace(), w.log.print
}

// recovery is how long after a fault the last decision is made without the
// store: the longest cooldown of a breaker, with the fifth that chance adds; a
// lease that was sent as a probe before the end, and is waited for; and some
// time until somebody asks.
const recovery = 6*weir.Second + leasePatience + 400*weir.Millisecond

// answered checks what holds for every answer.
func (w *world) answered(r *request, a answer) {
	w.report.Answers[a.source]++
	if a.admitted {
		w.report.Admitted++
	}
	switch a.source {
	case weir.SourceStore:
		r.n.backed = w.now
	case weir.SourceBackstop:
		r.n.stood = w.now
		if w.now > w.healed+recovery {
			w.fail("dead", "node %d answers without the store %.3f s after the last fault",
				r.n.id, float64(w.now-w.healed)/float64(weir.Second))
		}
	}
	for _, c := range r.t.counters {
		c.settle(r, a)
	}
	if w.onEach != nil {
		w.onEach(r, a)
	}
}
