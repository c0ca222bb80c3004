package rlsload

import "time"

// send adds a call to what flush will write. due is when it is or was to be
// sent, from the start of the run.
func (c *conn) send(s Script, i uint64, due time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sendLocked(s, i, due)
}

// sendOrPostpone is send, but a call that has no place waits for one, behind
// those that wait already.
func (c *conn) sendOrPostpone(s Script, i uint64, due time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.later) == 0 && c.sendLocked(s, i, due) == nil {
		return nil
	}
	if len(c.mu.later) == maxPostponed {
		return errFull
	}
	c.mu.later = append(c.mu.later, postponed{i, due})
	return nil
}

// resume sends those postponed calls for which there is a place now.
func (c *conn) resume(s Script) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(c.mu.later) && c.sendLocked(s, c.mu.later[n].i, c.mu.later[n].due) == nil {
		n++
	}
	c.mu.later = append(c.mu.later[:0], c.mu.later[n:]...)
}

func (c *conn) sendLocked(s Script, i uint64, due time.Duration) error {
	if c.mu.waiting >= c.mu.streams {
		return errFull
	}
	k := c.freeLocked()
	if k == nil {
		return errFull
	}
	block := c.block
	if c.first != nil {
		block = c.first
	}
	stream, start := c.mu.next, len(c.mu.out)
	b := appendFrameHeader(c.mu.out, len(block), frameHeaders, flagEndHeaders, stream)
	b = append(b, block...)
	data := len(b)
	b = s.append(b, i, stream)
	size := int64(len(b) - data - frameHeaderLen)
	if size > c.mu.window {
		c.mu.out = b[:start]
		return errFull
	}
	c.mu.window -= size
	c.mu.out, c.first = b, nil
	c.mu.next += 2
	c.mu.waiting++
	*k = call{stream: stream, due: due, status: noStatus, body: k.body[:0]}
	return nil
}

// freeLocked returns the place of the next stream. Places of calls that others
// have overtaken by a whole round are passed over.
func (c *conn) freeLocked() *call {
	for range slots {
		if k := c.callLocked(c.mu.next); k.stream == 0 {
			return k
		}
		c.mu.next += 2
	}
	return nil
}

func (c *conn) callLocked(stream uint32) *call { return &c.mu.calls[stream/2%slots] }

// flush writes what was sent.
func (c *conn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.out) == 0 {
		return nil
	}
	_, err := c.nc.Write(c.mu.out)
	c.mu.out = c.mu.out[:0]
	return err
}

// underWay is how many calls are not answered, the postponed among them.
func (c *conn) underWay() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.waiting + len(c.mu.later)
}
