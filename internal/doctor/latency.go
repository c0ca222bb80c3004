package doctor

import (
	"fmt"
	"time"
)

// latency judges round trips against the deadline of a decision, of which a
// store call may take all: what is later is answered by the policy's on_failure.
//
// It fails when half of the calls would be late. It warns when the slowest took
// more than half of the deadline: a few dozen calls of an idle connection are a
// kind picture of what thousands a second see.
func (j *judge) latency() {
	n := j.node
	if len(n.Rounds) == 0 {
		return
	}
	seen := "round trip " + quantiles(n.Rounds)
	worst := n.Rounds
	if len(n.Scripts) > 0 {
		seen += "; script " + quantiles(n.Scripts)
		worst = n.Scripts
	}
	seen += fmt.Sprintf("; deadline %s", j.facts.Deadline)
	p50, most := quantile(worst, 50), max(quantile(n.Rounds, 99), quantile(worst, 99))
	do := fmt.Sprintf("bring weir closer to Redis (same zone), give Redis a core of its own, or raise --deadline above %s", roundText(2*most))
	switch {
	case p50 > j.facts.Deadline:
		j.add(CheckLatency, Fail, seen+": most requests would be answered by on_failure", do)
	case 2*most > j.facts.Deadline:
		j.add(CheckLatency, Warn, seen, do)
	default:
		j.add(CheckLatency, OK, seen, "")
	}
}

func quantiles(sorted []time.Duration) string {
	return fmt.Sprintf("p50 %s p99 %s", roundText(quantile(sorted, 50)), roundText(quantile(sorted, 99)))
}

// quantile returns the smallest value that so many percent of the others do not
// exceed; 0 of none.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

// roundText writes a span with as many digits as matter.
func roundText(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(10 * time.Microsecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// slowLog judges what others did to the server: Redis runs one command at a
// time, and every decision waits for it.
func (j *judge) slowLog() {
	n := j.node
	if n.Slow == nil {
		j.add(CheckSlowLog, Unknown, "the slow log cannot be read",
			"ACL SETUSER "+userName(j.facts.User)+" +slowlog|get +latency|latest, or run weir doctor as a user who may")
		return
	}
	before := len(j.found)
	if s := n.Slow; s.Worst >= j.facts.Deadline {
		j.addf(CheckSlowLog, Warn, "SLOWLOG GET tells who; keep KEYS, big deletes and long scripts off this server; then SLOWLOG RESET",
			"%s took %s: every decision waited", s.Command, roundText(s.Worst))
	}
	for _, s := range n.Spikes {
		if s.Worst >= j.facts.Deadline {
			j.addf(CheckSlowLog, Warn, "LATENCY DOCTOR tells more; then LATENCY RESET", "the latency monitor saw %s of %s", s.Event, roundText(s.Worst))
		}
	}
	if len(j.found) == before {
		j.addf(CheckSlowLog, OK, "", "nothing above the deadline in the last %d entries", n.Slow.Entries)
	}
}
