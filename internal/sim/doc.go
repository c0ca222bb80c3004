// Package sim runs a fleet of Weir nodes and the stores they share in virtual
// time, breaks things, and checks what Weir promises while it does. A seed gives
// the same run again; thousands of seeds try what no test would think of.
//
//	demand -> node: local tier -> breaker -> network -> server: algo.Settle
//	            |   (leases, deny cache)      delay,      replica behind it,
//	            +-> backstop when that fails  loss        clock of its own
//
// What decides is the real thing: local.Tier, lease, hot, breaker, degrade.Backstop
// and algo. What is simulated is what they stand on: time, clocks that are off
// and drift, messages, servers that die, hang, fail over and forget, and nodes
// that stop. What is checked is written a second time here, and shares no code
// with what it checks. docs/simulator.md has the formulae.
//
// A run is one goroutine and reads no clock; Run may be called concurrently. It
// cannot fail: what it finds is in its Report.
package sim
