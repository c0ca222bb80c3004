package chaos

import (
	"fmt"
	"time"
)

// The game day: some nodes, some neighbours at a steady rate, and a whale that
// asks twice as often as before, then more than it may.
//
//	asked |                            ________ over
//	      |                      _____|
//	      |              _______|.....|........ limit
//	      |        _____/ ramp   hold
//	      |_______/
//	        before
const (
	whaleNodes   = 3
	whaleSteps   = 8   // of the ramp
	whaleShare   = 0.2 // of a limit that may be taken ahead: the whale's size is its rate's, not the cap's
	whaleRefresh = 100 * time.Millisecond
	whaleSettled = 5 * time.Second        // in which sizes converge
	whaleWindow  = 500 * time.Millisecond // that latencies are looked at in
	whaleFair    = 0.99                   // of what a neighbour's own limit and demand allow
	// whaleDeadline is of a check. Nothing is broken here, and what a busy machine
	// holds up is not to be decided by a backstop, which takes no leases.
	whaleDeadline = 250 * time.Millisecond
	neighbours    = 4
	neighbourRate = 180 // a second, of each, from all nodes together
	// The last of the neighbours may have less than it asks for, all the time.
	greedyLimit = 120
)

// whaleForm is how long and how hard.
type whaleForm struct {
	base                     int // requests a second of the whale, from all nodes together
	before, ramp, hold, over time.Duration
	// settled is the part of hold in which sizes are to have converged.
	settled time.Duration
	// band is how near to what they aim at, as a part of it.
	band float64
}

func theWhaleForm(f form) whaleForm {
	if f.name == longForm.name {
		return whaleForm{
			base: 2400, before: 8 * time.Second, ramp: 30 * time.Second, hold: 10 * time.Second, over: 6 * time.Second,
			settled: whaleSettled, band: 0.1,
		}
	}
	return whaleForm{
		// Before, the whale has to be found, by one in eight of its requests: that
		// takes up to a second, and what is seen of its rate by then is a guess. From
		// there to its size it needs what it needs after any other change: settled.
		base: 600, before: 2500 * time.Millisecond, ramp: 1200 * time.Millisecond, hold: 2200 * time.Millisecond, over: 1500 * time.Millisecond,
		settled: 1200 * time.Millisecond, band: 0.25,
	}
}

// limit is what the whale may have a second, and at once: more than twice what
// it asks for at first, and less than it asks for in the end.
func (w whaleForm) limit() int { return w.base * 5 / 2 }

// most is what it asks for in the end.
func (w whaleForm) most() int { return 5 * w.base }

// policies of the game day.
func (w whaleForm) policies() string {
	const line = "  - {id: %s, match: {kind: %s}, by: tenant, limits: %d/s burst %d, lease: auto, on_failure: open}\n"
	return "policies:\n" + fmt.Sprintf(line, "whale", "whale", w.limit(), w.limit()) +
		fmt.Sprintf(line, "neighbour", "neighbour", 2*neighbourRate, 2*neighbourRate) +
		fmt.Sprintf(line, "greedy", "greedy", greedyLimit, greedyLimit) + "  - {id: wide, match: {kind: wide}, by: tenant, limits: 1000000/s, on_failure: open}\n"
}

// neighbourKind is the policy of a neighbour.
func neighbourKind(key uint64) string {
	if key == neighbours-1 {
		return "greedy"
	}
	return "neighbour"
}
