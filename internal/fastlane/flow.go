package fastlane

// blockLocked queues a call whose message waits for a window.
func (cn *conn) blockLocked(c *Call) {
	c.blocked, c.sent, c.after = true, 0, nil
	c.since = cn.server.tick.Load()
	if cn.blockedTail == nil {
		cn.blockedHead = c
	} else {
		cn.blockedTail.after = c
	}
	cn.blockedTail = c
}

// unblockLocked takes a call out of the queue.
func (cn *conn) unblockLocked(c *Call) {
	var before *Call
	for at := cn.blockedHead; at != nil; before, at = at, at.after {
		if at != c {
			continue
		}
		if before == nil {
			cn.blockedHead = c.after
		} else {
			before.after = c.after
		}
		if cn.blockedTail == c {
			cn.blockedTail = before
		}
		c.blocked, c.after = false, nil
		return
	}
}

// pumpLocked sends what the windows allow: first come, first served.
func (cn *conn) pumpLocked() {
	for c := cn.blockedHead; c != nil && cn.send > 0; {
		next := c.after
		for c.send > 0 && cn.send > 0 && c.sent < len(c.pending) {
			n := min(int64(len(c.pending)-c.sent), c.send, cn.send, maxFrame)
			cn.out = appendFrame(cn.out, int(n), frameData, 0, c.id)
			cn.out = append(cn.out, c.pending[c.sent:c.sent+int(n)]...)
			c.sent += int(n)
			c.send -= n
			cn.send -= n
		}
		if c.sent == len(c.pending) {
			cn.unblockLocked(c)
			cn.finishLocked(c)
		}
		c = next
	}
	if cn.waiting > 0 {
		cn.changed.Broadcast()
	}
}
