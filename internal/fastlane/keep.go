package fastlane

import "time"

// What a handler needs for a call it needs again for the next: it stays with the
// Call, where the connection finds it without looking, and where the call after it
// finds what was asked last. Because every connection has its own, there are bounds:
// how many calls of a server may keep something, and for how long without use.

// mostKept is how many calls of a server keep something. What is kept is some
// kilobytes.
const mostKept = 4096

// Kept is what Keep was given by an earlier call in the same memory, nil if none
// was or it was dropped meanwhile.
func (c *Call) Kept() any { return c.kept }

// Keep keeps v for later calls in the same memory, or returns false: there is no
// room, or something is kept already. It is for a handler's Take.
//
// As soon as the call is answered v may be in the hands of the next.
func (c *Call) Keep(v any) bool {
	s := c.conn.server
	if c.kept != nil {
		return false
	}
	if s.kept.Add(1) > mostKept {
		s.kept.Add(-1)
		return false
	}
	c.conn.kept.Add(1)
	c.kept = v
	return true
}

// idleMemory is how long memory is kept that is not used: buffers of a connection
// without streams, and calls that were only needed when there were many.
const idleMemory = 10 * time.Second

// trimEach is how many ticks are between two looks for such memory.
const trimEach = 4

// trimLocked drops what was not used for long.
func (cn *conn) trimLocked(now uint32) {
	old := cn.server.beats(idleMemory)
	if cn.inUse == 0 && !cn.writing && len(cn.out) == 0 && now-cn.idleSince > old {
		cn.out, cn.spare = nil, nil // most connections are idle most of the time
	}
	for at := &cn.free; *at != nil; {
		c := *at
		if now-c.since <= old {
			at = &c.after
			continue
		}
		*at, c.after = c.after, nil
		if c.kept != nil {
			c.kept = nil
			cn.unkeep(1)
		}
	}
}

// unkeep counts what is kept no more.
func (cn *conn) unkeep(n int64) {
	cn.kept.Add(-n)
	cn.server.kept.Add(-n)
}
