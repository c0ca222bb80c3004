package main

import (
	"sync/atomic"

	"github.com/weirlimit/weir/internal/fastlane"
	"github.com/weirlimit/weir/internal/obs"
)

// fastCounts count what becomes of the fast lane's connections.
type fastCounts struct {
	open            atomic.Int64
	closed, refused []atomic.Uint64 // by reason
}

func newFastCounts() *fastCounts {
	n := len(fastlane.Reasons())
	return &fastCounts{closed: make([]atomic.Uint64, n), refused: make([]atomic.Uint64, n)}
}

// hooks have them count.
func (c *fastCounts) hooks() fastlane.Hooks {
	return fastlane.Hooks{
		Opened: func() { c.open.Add(1) },
		Closed: func(r fastlane.Reason) {
			c.open.Add(-1)
			c.closed[r].Add(1)
		},
		Refused: func(r fastlane.Reason) { c.refused[r].Add(1) },
	}
}

// read returns them, for a scrape.
func (c *fastCounts) read() obs.Connections {
	now := obs.Connections{Open: c.open.Load(), Closed: make(map[string]uint64), Refused: make(map[string]uint64)}
	for _, r := range fastlane.Reasons() {
		now.Closed[r.String()], now.Refused[r.String()] = c.closed[r].Load(), c.refused[r].Load()
	}
	return now
}
