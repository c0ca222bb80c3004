package sim

import (
	"math/rand/v2"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/stage"
)

// node is a process: the real stages, a clock of its own, a way to the servers.
type node struct {
	w        *world
	id       int
	clock    clock
	chance   *rand.Rand
	tier     *local.Tier
	backstop *degrade.Backstop
	link     *link
	store    weir.Store // link, or what a test puts before it
	cutOff   bool       // no message arrives
	stopped  weir.Micros
	stood    weir.Micros // when the backstop last answered
	backed   weir.Micros // when the store last did
}

func newNode(w *world, id int) *node {
	n := &node{w: w, id: id, clock: nodeClock(w.plan), chance: w.stream(100 + uint64(id))}
	n.link = newLink(n, w.seams.breaker)
	n.store = n.link
	if w.seams.store != nil {
		n.store = w.seams.store(n)
	}
	instances := func() int { return w.shape.nodes }
	o := local.Options{Denials: w.shape.denials}
	if w.shape.leases {
		o.Leases = local.LeaseOptions{
			Store: n.store, Instances: instances, Keys: 64, HotRate: w.shape.hotRate, Chance: w.chanceOf(n),
		}
		if w.seams.instances > 0 {
			o.Leases.Instances = func() int { return w.seams.instances }
		}
	}
	n.tier = local.New(o)
	n.backstop = degrade.NewBackstop(degrade.BackstopOptions{Keys: 512, Instances: instances})
	return n
}

// now is what its clock says.
func (n *node) now() weir.Micros { return n.clock.at(n.w.now) }

// at has do called at an instant, or when the node goes on if it is stopped then.
func (n *node) at(t weir.Micros, do func()) {
	n.w.at(t, func() {
		if n.w.now < n.stopped {
			n.at(n.stopped, do)
			return
		}
		do()
	})
}

// reaches tells whether the next message arrives.
func (n *node) reaches(t *tenant) bool {
	return !n.cutOff && (n.w.loss == 0 || t.net.Float64() >= n.w.loss)
}

// delay is how long it takes.
func (n *node) delay(t *tenant) weir.Micros {
	if n.w.shape.delay == 0 {
		return 0
	}
	return weir.Micros(t.net.Int64N(int64(n.w.shape.delay)))
}

func (n *node) note(what, key string, a, b int64) {
	n.w.log.add(note{at: n.w.now, what: what, node: n.id, key: key, a: a, b: b})
}

// request is one on its way.
type request struct {
	n     *node
	t     *tenant
	cost  int64
	ask   stage.Ask
	batch weir.Batch
	then  func(answer)

	// Memory, all at once: there are many.
	entries [1]weir.Entry
	charges [2]weir.Charge
	hints   [2]stage.Hint
}

// answer is what a caller is told.
type answer struct {
	admitted  bool
	source    weir.Source
	retry     weir.Micros
	remaining int64
	charged   weir.Micros // by the server's clock; 0 when it was not asked
}

// check is what an engine does with a request: see engine.flow.
func (n *node) check(t *tenant, cost int64, then func(answer)) {
	r := &request{n: n, t: t, cost: cost, then: then}
	e := &r.entries[0]
	e.Charges, r.ask.Hints, r.batch.Entries = r.charges[:0], r.hints[:0], r.entries[:]
	for _, c := range t.counters {
		e.Charges = append(e.Charges, weir.Charge{Key: c.named, Meter: c.meter, Cost: cost})
		r.ask.Hints = append(r.ask.Hints, stage.Hint{ID: c.id, Lease: n.w.shape.leases, Strict: t.strict})
	}
	r.ask.Now, r.ask.Serial, r.ask.Entry = n.now(), 1, e
	if source, ok := r.try(); ok {
		r.answered(source)
		return
	}
	n.store.Submit(&r.batch, r.stored)
}

func (r *request) try() (weir.Source, bool) {
	if f := r.n.w.seams.tierClock; f != nil {
		defer func(now weir.Micros) { r.ask.Now = now }(r.ask.Now)
		r.ask.Now = f(r.ask.Now)
	}
	return r.n.tier.Try(&r.ask)
}

// stored is the store's callback.
func (r *request) stored(*weir.Batch) {
	n, e := r.n, r.ask.Entry
	if e.Err != nil {
		e.Err = nil
		n.backstop.Answer(&r.ask)
		r.answered(weir.SourceBackstop)
		return
	}
	r.ask.Took = n.now() - r.ask.Now
	n.tier.Learn(&r.ask)
	if !n.w.seams.deaf {
		n.backstop.Learn(&r.ask)
	}
	for i, c := range r.t.counters {
		c.heard(n, r.ask.Now, e.Outcomes[i].Remaining)
	}
	r.answered(weir.SourceStore)
}

func (r *request) answered(source weir.Source) {
	n, e := r.n, r.ask.Entry
	a := answer{admitted: e.Admitted, source: source}
	if source == weir.SourceStore {
		a.charged = e.Now
	}
	if i := e.Binding(); i >= 0 {
		a.retry, a.remaining = e.Outcomes[i].RetryAfter, e.Outcomes[i].Remaining
	}
	if a.admitted {
		n.note(admittedBy[source], r.t.name, r.cost, a.remaining)
	} else {
		n.note(deniedBy[source], r.t.name, r.cost, int64(a.retry))
	}
	n.w.answered(r, a)
	if r.then != nil {
		r.then(a)
	}
}

// What a trace says of an answer, by its source.
var (
	admittedBy = [...]string{
		weir.SourceStore: "admitted %d by store, %d left", weir.SourceDenyCache: "admitted %d by deny_cache, %d left",
		weir.SourceLease: "admitted %d by lease, %d left", weir.SourceBackstop: "admitted %d by backstop, %d left",
	}
	deniedBy = [...]string{
		weir.SourceStore: "denied %d by store, again in %d us", weir.SourceDenyCache: "denied %d by deny_cache, again in %d us",
		weir.SourceLease: "denied %d by lease, again in %d us", weir.SourceBackstop: "denied %d by backstop, again in %d us",
	}
)
