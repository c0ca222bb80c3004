package embedded

import (
	"cmp"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/degrade"
)

// standBy adds what answers while the store does not: this process's part of
// every limit, kept warm from the store's answers, and a bound on how many
// checks wait for it. See docs/degraded-modes.md.
func standBy(c *config, o *engine.Options) {
	o.Backstop = degrade.NewBackstop(degrade.BackstopOptions{Instances: c.instances})
	o.Gate = degrade.NewGate(degrade.GateOptions{Target: cmp.Or(c.deadline, engine.DefaultDeadline) / 2})
}
