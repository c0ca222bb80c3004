package sim

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
)

// counter is one limit of one tenant, and the books that are kept of it.
type counter struct {
	w     *world
	key   string
	named string // what nodes call it: key, but where a test says otherwise
	id    keytable.ID
	meter *weir.Meter
	shard int
	parts int64 // shares that it is cut into while the store is away
	costs int64 // the largest request
	cap   float64
	perUs float64 // units a microsecond
	most  int64   // units that a node may hold ahead

	bound   bound
	heards  []heardOf // per node
	leases  []leases  // per node
	windows windows
}

// burst is the units beyond the rate that a limit lets through in any stretch of
// time, and rate how many a microsecond; see docs/algorithms.md. A fixed window's
// units may all come at its end, and the next one's at its begin; a sliding
// window counts to a sixteenth.
func burstAndRate(m *weir.Meter) (burst, rate float64) {
	count, window := float64(m.Limit.Count), float64(m.Limit.Window)
	switch m.Machine {
	case weir.Window:
		return 2 * count, count / window
	case weir.Runs:
		n := count + float64(m.RunCap) - 1
		return n, n / window
	}
	return float64(m.Capacity), count / window
}

// sharePart is the part of a limit that nodes may hold ahead, all together.
const sharePart = 0.05

func newCounter(w *world, key string, m *weir.Meter, t *tenant) *counter {
	nodes := int64(w.shape.nodes)
	c := &counter{
		w: w, key: key, named: key, meter: m, shard: t.shard, parts: nodes, costs: t.costs,
		cap: float64(m.Capacity), perUs: float64(m.Limit.Count) / float64(m.Limit.Window),
		heards: make([]heardOf, nodes), leases: make([]leases, nodes),
	}
	if t.strict {
		c.parts *= 4
	}
	if w.shape.leases {
		c.most = int64(sharePart * float64(m.Capacity) / float64(nodes))
		for i := range c.leases {
			c.leases[i].c = c
		}
	}
	c.windows = windows{counts: map[weir.Micros]int64{}}
	c.bound.open(c)
	return c
}

// share is what the backstop of one node holds of it.
func (c *counter) share() float64 {
	return float64(max(1, c.meter.Capacity/c.parts, min(c.costs, c.meter.Capacity)))
}

// lost notes that the store has forgotten something of it.
func (c *counter) lost(now weir.Micros) {
	c.windows.spoilt = true
	if !c.w.seams.blind {
		c.bound.lost(now)
	}
}

// settle enters an answer into the books.
func (c *counter) settle(r *request, a answer) {
	n, cost, now := r.n, r.cost, c.w.now
	if a.source == weir.SourceBackstop {
		c.heards[n.id].answered = max(c.heards[n.id].answered, r.ask.Now)
		c.windows.spoilt = true
		c.bound.stoodIn(n, now)
	}
	if !a.admitted {
		return
	}
	switch a.source {
	case weir.SourceBackstop:
		c.heards[n.id].stoodIn(c, n, cost)
	case weir.SourceLease:
		c.leases[n.id].spent(n, cost)
		c.windows.add(c, c.w.servers[c.shard].clock.at(now), cost)
	case weir.SourceStore:
		c.windows.add(c, a.charged, cost)
	}
	c.bound.admitted(now, cost)
}
