package rlsload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// reply is how one call ended. body is valid during the call of done only.
type reply struct {
	due    time.Duration
	status int // grpc-status
	body   []byte
}

// receive waits for bytes and hands the answers among them to done, which may
// send.
func (c *conn) receive(done func(reply)) error {
	if err := c.fill(); err != nil {
		return err
	}
	for {
		f, n := nextFrame(c.in[c.from:c.to])
		if n == 0 {
			return nil
		}
		c.from += n
		if err := c.handle(f, done); err != nil {
			return err
		}
	}
}

// frame waits for one frame.
func (c *conn) frame() (frame, error) {
	for {
		if f, n := nextFrame(c.in[c.from:c.to]); n > 0 {
			c.from += n
			return f, nil
		}
		if err := c.fill(); err != nil {
			return frame{}, err
		}
	}
}

// fill reads once, after moving what is left to the front.
func (c *conn) fill() error {
	c.to, c.from = copy(c.in, c.in[c.from:c.to]), 0
	if c.to == len(c.in) {
		return errors.New("a frame larger than was allowed")
	}
	n, err := c.nc.Read(c.in[c.to:])
	c.to += n
	if n > 0 {
		return nil
	}
	return err
}

// handle does what a frame asks for. done is nil before the first call.
func (c *conn) handle(f frame, done func(reply)) error {
	switch f.kind {
	case frameData:
		return c.data(f, done)
	case frameHeaders, frameContinuation:
		return c.headerBlock(f, done)
	case frameReset:
		const cancelled = 1
		c.finish(f.stream, cancelled, done)
	case frameSettings:
		return c.settings(f)
	case framePing:
		if f.flags&flagAck == 0 {
			c.queue(append(appendFrameHeader(nil, len(f.payload), framePing, flagAck, 0), f.payload...))
		}
	case frameGoAway:
		return fmt.Errorf("the server goes away: %q", f.payload[min(8, len(f.payload)):])
	case frameWindowUpdate:
		if len(f.payload) == 4 && f.stream == 0 {
			c.mu.Lock()
			c.mu.window += int64(binary.BigEndian.Uint32(f.payload) & maxWindow)
			c.mu.Unlock()
		}
	}
	return nil
}

// settings acknowledges, and keeps to the number of streams that the server
// allows. Requests are short, so what it allows of their length is enough.
func (c *conn) settings(f frame) error {
	if f.flags&flagAck != 0 {
		return nil
	}
	for p := f.payload; len(p) >= 6; p = p[6:] {
		id, v := binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])
		if id == settingInitialWindow && v < maxFrame || id == settingMaxStreams && v < 100 {
			return fmt.Errorf("setting %d is %d, too little to measure", id, v)
		}
		if id == settingMaxStreams {
			c.mu.Lock()
			c.mu.streams = int(min(v, slots))
			c.mu.Unlock()
		}
	}
	c.queue(appendFrameHeader(nil, 0, frameSettings, flagAck, 0))
	return nil
}

// queue adds a frame to what flush will write.
func (c *conn) queue(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.out = append(c.mu.out, b...)
}

func (c *conn) data(f frame, done func(reply)) error {
	b, ok := f.content()
	if !ok {
		return errors.New("malformed DATA")
	}
	if c.taken += uint32(len(f.payload)); c.taken > maxWindow/2 {
		c.queue(appendWindowUpdate(nil, 0, c.taken))
		c.taken = 0
	}
	c.mu.Lock()
	if k := c.callLocked(f.stream); k.stream == f.stream {
		k.body = append(k.body, b...)
	}
	c.mu.Unlock()
	if f.flags&flagEndStream != 0 {
		c.finish(f.stream, noStatus, done)
	}
	return nil
}

func (c *conn) headerBlock(f frame, done func(reply)) error {
	b, ok := f.content()
	if !ok || f.kind == frameContinuation && f.stream != c.inStream {
		return errors.New("malformed HEADERS")
	}
	if f.kind == frameHeaders {
		c.inStream, c.inEnd, c.headers = f.stream, f.flags&flagEndStream != 0, c.headers[:0]
	}
	if f.flags&flagEndHeaders == 0 || len(c.headers) > 0 {
		c.headers = append(c.headers, b...)
		b = c.headers
	}
	if len(b) > maxFrame {
		return errors.New("header block too large")
	}
	if f.flags&flagEndHeaders == 0 {
		return nil
	}
	stream := c.inStream
	c.inStream = 0
	status, err := c.statuses.read(b)
	if err != nil {
		return err
	}
	if c.inEnd {
		c.finish(stream, status, done)
	}
	return nil
}

// finish ends a call. A stream that ends without a status has failed.
func (c *conn) finish(stream uint32, status int, done func(reply)) {
	if status == noStatus {
		const internal = 13
		status = internal
	}
	c.mu.Lock()
	k := c.callLocked(stream)
	if k.stream != stream || stream == 0 {
		c.mu.Unlock()
		return
	}
	r := reply{k.due, status, k.body}
	k.stream = 0
	k.body = nil // the reply's until done returns
	c.mu.waiting--
	c.mu.Unlock()
	if done != nil {
		done(r)
	}
	c.mu.Lock()
	if k.body == nil {
		k.body = r.body[:0]
	}
	c.mu.Unlock()
}
