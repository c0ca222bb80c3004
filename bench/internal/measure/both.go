package measure

import (
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// span is what a stretch of time took of client and server.
type span struct {
	wall           time.Duration
	client, server time.Duration // processor time
	calls          int64         // of scripts, by the server's own count
}

// during returns what it took to wait for f. Asking the server for its share
// takes a round trip, which is kept outside the clock on both sides.
func during(srv *redistest.Server, f func()) span {
	calls, server := scriptCalls(srv), srv.CPU()
	client, start := processCPU(), time.Now()
	f()
	s := span{wall: time.Since(start), client: processCPU() - client}
	s.server = srv.CPU() - server
	s.calls = scriptCalls(srv) - calls
	return s
}

// scriptCalls is how many scripts the server was sent.
func scriptCalls(srv *redistest.Server) (n int64) {
	stats := srv.CommandStats()
	for _, name := range []string{"eval", "evalsha", "fcall"} {
		n += stats[name]
	}
	return n
}

// less takes off what both would have used doing nothing for as long.
func (s span) less(idle span) span {
	if idle.wall <= 0 {
		return s
	}
	share := float64(s.wall) / float64(idle.wall)
	s.client -= time.Duration(share * float64(idle.client))
	s.server -= time.Duration(share * float64(idle.server))
	return s
}
