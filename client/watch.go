package client

import (
	"context"
	"time"
)

// tickLength is how often the wheel is looked at, and lingering for how many
// empty looks in a row before nobody looks: waking somebody for every check of
// a slow caller would cost more.
const (
	tickLength = time.Millisecond
	lingering  = 50
)

// watch gives up on checks whose time has come, whatever the connection does.
func (l *lane) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.armed:
		}
		l.tend(ctx)
	}
}

// tend looks at the wheel every tick, until it has been empty for a while.
func (l *lane) tend(ctx context.Context) {
	ticker := time.NewTicker(tickLength)
	defer ticker.Stop()
	var due []ticket
	for empty := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		due = due[:0]
		l.mu.Lock()
		l.mu.wheel.expire(l.client.tickAt(time.Now()), func(c *call) {
			due = append(due, l.detachLocked(c))
			l.mu.missed++
		})
		if empty++; l.mu.wheel.n > 0 {
			empty = 0
		}
		stop := empty > lingering
		l.mu.watched = !stop
		l.mu.Unlock()
		for _, t := range due {
			l.client.undecided(t, errTimeout)
		}
		clear(due)
		if stop {
			return
		}
	}
}
