package sim

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir"
)

// Report is what a run found.
type Report struct {
	Seed     uint64
	Scenario string
	Check    string // what does not hold; empty when all does
	Problem  string
	Trace    []string // the last that happened
	Print    uint64   // of all that happened: the same for the same seed

	Admitted int64
	Answers  [weir.SourceSwitch + 1]int64 // by source
	Faults   map[string]int
	Used     float64 // of scenario steady: the part of the limit that was used
}

// Failed tells whether something does not hold.
func (r *Report) Failed() bool { return r.Check != "" }

// String is what to print of a failed run: what is wrong, how to see it again,
// and what happened last.
func (r *Report) String() string {
	if !r.Failed() {
		return fmt.Sprintf("seed %d (%s): ok", r.Seed, r.Scenario)
	}
	return fmt.Sprintf("seed %d (%s): %s: %s\nrun it again: go test ./internal/sim -run '^TestSeeds$' -seed %d\nlast events:\n\t%s",
		r.Seed, r.Scenario, r.Check, r.Problem, r.Seed, strings.Join(r.Trace, "\n\t"))
}
