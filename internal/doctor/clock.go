package doctor

import (
	"fmt"
	"time"
)

// How far two clocks may be apart.
//
// A decision has one clock, that of the node that keeps the counter. When a
// replica takes over, what it finds was written by another clock: ahead of it,
// callers wait that much longer; behind, they are given what that time refills.
// A tenth of a second is what unsynchronised machines drift in an hour or so,
// and lost in the noise of any limit. A second is the shortest window in use: a
// limit of n/s then hands out a whole n, or nothing.
//
// The clock of the machine that runs Weir decides nothing. It says when salts
// rotate and what time of day a reset is, in seconds, and so is never a reason
// to fail.
const (
	nodesWarn   = 100 * time.Millisecond
	nodesFail   = time.Second
	machineWarn = time.Second
)

const syncClocks = "synchronise the clocks, with chrony or systemd-timesyncd: chronyc tracking, timedatectl"

// clock judges a node against this machine.
func (j *judge) clock() {
	c := j.node.Clock
	if c == nil {
		return
	}
	seen := fmt.Sprintf("%s this machine's, give or take %s", c.text(), roundText(c.Within))
	if c.Ahead.Abs()-c.Within > machineWarn {
		j.add(CheckClock, Warn, seen, syncClocks)
		return
	}
	j.add(CheckClock, OK, seen, "")
}

func (c *Offset) text() string {
	switch {
	case c.Ahead.Abs() <= c.Within:
		return "as"
	case c.Ahead < 0:
		return roundText(-c.Ahead) + " behind"
	}
	return roundText(c.Ahead) + " ahead of"
}

// judgeClocks judges the nodes against each other. What the measurement may be
// wrong by counts in their favour.
func judgeClocks(f *Facts) []Finding {
	var first, last *Node
	nodes := 0
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Clock == nil {
			continue
		}
		nodes++
		if first == nil || n.Clock.Ahead < first.Clock.Ahead {
			first = n
		}
		if last == nil || n.Clock.Ahead > last.Clock.Ahead {
			last = n
		}
	}
	if nodes < 2 {
		return nil
	}
	apart := last.Clock.Ahead - first.Clock.Ahead
	sure := apart - last.Clock.Within - first.Clock.Within
	out := Finding{Check: CheckClock, Status: OK, Seen: fmt.Sprintf("the clocks of %d nodes are within %s", nodes, roundText(apart))}
	if sure <= nodesWarn {
		return []Finding{out}
	}
	out.Status, out.Do = Warn, syncClocks
	out.Seen = fmt.Sprintf("the clock of %s is %s ahead of that of %s: a failover between such shifts every limit by that", last.Addr, roundText(apart), first.Addr)
	if sure > nodesFail {
		out.Status = Fail
	}
	return []Finding{out}
}
