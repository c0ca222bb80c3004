//go:build !linux

package bench

import "time"

// pacer waits for instants, as exactly as the runtime's timers do.
type pacer struct{}

func newPacer() pacer               { return pacer{} }
func (pacer) pause(d time.Duration) { time.Sleep(d) }
func (pacer) end()                  {}
