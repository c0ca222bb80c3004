package sim

import (
	"github.com/weirlimit/weir"
)

// faults are what can break, each for a while. All are over when they say.
var faults = []struct {
	name   string
	server bool // happens to a server; else to a node, or to all messages
	begin  func(w *world, target int, span weir.Micros)
}{
	{"failover", true, func(w *world, i int, span weir.Micros) {
		w.servers[i].kill()
		w.after(span, func() { w.servers[i].promote(false); w.topology(i) })
	}},
	{"graceful", true, func(w *world, i int, _ weir.Micros) {
		w.servers[i].promote(true)
		w.topology(i)
	}},
	{"wipe", true, func(w *world, i int, span weir.Micros) {
		w.servers[i].kill()
		w.after(span, func() { w.servers[i].wipe() })
	}},
	{"flush", true, func(w *world, i int, _ weir.Micros) { w.servers[i].wipe() }},
	{"down", true, func(w *world, i int, span weir.Micros) { // a restart that loses nothing
		w.servers[i].kill()
		w.after(span, func() {
			w.servers[i].state = up
			w.note("shard %d is back", int64(i), 0)
		})
	}},
	{"hang", true, func(w *world, i int, span weir.Micros) {
		w.servers[i].hang()
		w.after(span, func() { w.servers[i].resume() })
	}},
	{"slow", true, func(w *world, i int, span weir.Micros) {
		w.servers[i].slow = 30*weir.Millisecond + weir.Micros(w.plan.Int64N(int64(40*weir.Millisecond)))
		w.note("shard %d takes %d us", int64(i), int64(w.servers[i].slow))
		w.after(span, func() { w.servers[i].slow = 0; w.note("shard %d is fast again", int64(i), 0) })
	}},
	{"partition", false, func(w *world, i int, span weir.Micros) {
		n := w.nodes[i]
		n.cutOff = true
		n.note("is cut off", "", 0, 0)
		w.after(span, func() { n.cutOff = false; n.note("is not cut off any more", "", 0, 0) })
	}},
	{"stop", false, func(w *world, i int, span weir.Micros) {
		n := w.nodes[i]
		n.stopped = w.now + span
		n.note("stops for %d us", "", int64(span), 0)
	}},
	{"loss", false, func(w *world, _ int, span weir.Micros) {
		w.loss = 0.002 + 0.9*w.plan.Float64()*w.plan.Float64()
		w.note("%d of 1000 messages are lost", int64(1000*w.loss), 0)
		w.after(span, func() { w.loss = 0; w.note("messages arrive", 0, 0) })
	}},
}

// topology tells the nodes that a shard has another primary, some time later.
func (w *world) topology(shard int) {
	for _, n := range w.nodes {
		if w.plan.IntN(2) == 0 {
			continue
		}
		n.at(w.now+weir.Micros(w.plan.Int64N(int64(weir.Second))), func() {
			n.link.breakers[shard].TopologyChanged(n.now())
		})
	}
}

// breakThings plans faults within a span. Of one target no two overlap.
func (w *world) breakThings(count int, from, to weir.Micros) {
	free := map[int]weir.Micros{}
	for range count {
		f := faults[w.plan.IntN(len(faults))]
		target := w.plan.IntN(w.shape.nodes)
		slot := 1000 + target
		if f.server {
			target = w.plan.IntN(w.shape.shards)
			slot = target
		} else if f.name == "loss" {
			slot = -1
		}
		begin := max(free[slot], from+weir.Micros(w.plan.Int64N(int64(to-from))))
		span := weir.Micros(50*weir.Millisecond) + weir.Micros(w.plan.ExpFloat64()*float64(700*weir.Millisecond))
		end := min(begin+span, to)
		if end-begin < 20*weir.Millisecond {
			continue
		}
		// What was slow or stopped is answered a little later.
		free[slot] = end + 100*weir.Millisecond
		w.healed = max(w.healed, free[slot])
		w.report.Faults[f.name]++
		w.at(begin, func() { f.begin(w, target, end-begin) })
	}
}
