package fastlane

import "time"

// drainState is how far a connection is in being shut down.
//
//	none ─► announced: GOAWAY with the largest id, and a PING
//	          │ its answer: the peer knows, and what it sent before is here
//	          ▼
//	        last: GOAWAY with the last id that is served
//	          │ no call is left
//	          ▼
//	        closing
type drainState uint8

const (
	drainNone drainState = iota
	drainAnnounced
	drainLast
)

// drainPing is the PING that goes with the first GOAWAY.
const drainPing = "weirbye!"

// drainLocked begins to shut a connection down.
func (cn *conn) drainLocked(why Reason) {
	if cn.drain != drainNone || cn.dead {
		return
	}
	cn.drain, cn.drainSince, cn.why = drainAnnounced, cn.server.tick.Load(), why
	cn.out = appendGoAway(cn.out, maxStreamID, codeNone, "")
	cn.out = append(appendFrame(cn.out, len(drainPing), framePing, 0, 0), drainPing...)
}

// pongLocked takes the answer to a PING of ours.
func (cn *conn) pongLocked(p []byte) {
	if cn.drain == drainAnnounced && string(p) == drainPing {
		cn.lastCallLocked()
	}
}

// lastCallLocked says which streams are served, and that none is after them.
func (cn *conn) lastCallLocked() {
	cn.drain, cn.drainSince = drainLast, cn.server.tick.Load()
	cn.lastServed = cn.lastID
	cn.out = appendGoAway(cn.out, cn.lastServed, codeNone, "")
	cn.drainedLocked()
}

func (cn *conn) drainedLocked() {
	if cn.drain == drainLast && cn.inUse == 0 {
		cn.closing = true
	}
}

// goAwayLocked tells the peer why its connection ends.
func (cn *conn) goAwayLocked(e *connError) {
	if cn.farewell || e.code == codeNone {
		return
	}
	cn.farewell = true
	last := cn.lastID
	if cn.drain == drainLast {
		last = cn.lastServed // it must not grow: RFC 9113, 6.8
	}
	cn.out = appendGoAway(cn.out, last, e.code, e.text)
}

// unhurry ends the time a handshake may take.
func (cn *conn) unhurry() error { return cn.nc.SetDeadline(time.Time{}) }
