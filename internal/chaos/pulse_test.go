package chaos

import (
	"context"
	"time"
)

// pulse is how late a timer was that had nothing else to do: what the machine
// does to everybody, whatever the fault.
type pulse struct {
	at   time.Time
	late time.Duration
}

// beat takes a pulse every 5 ms, and tells of those that were a millisecond late
// or more.
func beat(ctx context.Context, tell func(pulse)) {
	const interval = 5 * time.Millisecond
	for ctx.Err() == nil {
		due := time.Now().Add(interval)
		time.Sleep(interval)
		if now := time.Now(); now.Sub(due) >= time.Millisecond {
			tell(pulse{now, now.Sub(due)})
		}
	}
}

// calmBudget is how long the suite waits for a quieter machine in all.
var calmBudget = time.Minute

// awaitCalm waits until a second has passed without a pulse that was late by
// half of B, or until the budget is used up.
func awaitCalm() {
	began := time.Now()
	defer func() { calmBudget -= time.Since(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), max(calmBudget, 0))
	defer cancel()
	for ctx.Err() == nil {
		quiet, end := context.WithTimeout(ctx, time.Second)
		late := false
		beat(quiet, func(p pulse) {
			if p.late > deadline/2 {
				late = true
				end()
			}
		})
		end()
		if !late {
			return
		}
	}
}

// latest is the worst pulse of a stretch of time.
func latest(pulses []pulse, from, to time.Time) (worst time.Duration) {
	for _, p := range pulses {
		if p.at.After(from) && !p.at.After(to) {
			worst = max(worst, p.late)
		}
	}
	return worst
}
