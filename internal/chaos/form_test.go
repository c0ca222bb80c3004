package chaos

import (
	"flag"
	"os"
	"time"
)

// form is how hard the suite tries.
type form struct {
	name string
	seed uint64
	rate int // requests a second
	keys int // half of them with a limit that is always used up
	// slack is what a check may take beyond its deadline, at the 99th
	// percentile.
	slack time.Duration
	// unfelt is the deadline in rows that must not be felt at all: a busy
	// machine's own delays are not to be taken for the fault's.
	unfelt time.Duration
	warm   time.Duration // load before the fault
	fault  time.Duration // how long a fault lasts that can be ended at will
	after  time.Duration // load after it
	// flood is how long a flood lasts, and how long the others are looked at before:
	// the more windows, the less does the median of some owe to chance.
	flood time.Duration
	// many is the number of keys of the memory row.
	many int
}

const (
	deadline = 10 * time.Millisecond // of a check: B
	attained = 0.99                  // share of the load that must have been sent in time and answered
	backed   = 0.99                  // share of answers by the store, once a fault is over
	recovery = 2 * time.Second       // in which that is so again
	// lookAgain is the longest that an open breaker takes to look again: 5 s and
	// a fifth.
	lookAgain = 6 * time.Second
)

var (
	shortForm = form{
		name: "short", seed: 1, rate: 400, keys: 40, slack: 50 * time.Millisecond, unfelt: 60 * time.Millisecond,
		warm: 600 * time.Millisecond, fault: 800 * time.Millisecond, after: 800 * time.Millisecond, flood: 2 * time.Second, many: 8_000,
	}
	longForm = form{
		name: "long", seed: 1, rate: 1000, keys: 60, slack: 5 * time.Millisecond, unfelt: deadline,
		warm: 3 * time.Second, fault: 10 * time.Second, after: 5 * time.Second, flood: 10 * time.Second, many: 1_000_000,
	}
)

var reportShort = flag.Bool("report-short", false, "write WEIR_CHAOS_REPORT from the short form as well")

// theForm is the long one for make chaos.
func theForm() form {
	if os.Getenv("WEIR_CHAOS") == "long" {
		return longForm
	}
	return shortForm
}
