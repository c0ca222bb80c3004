package h2client

import (
	"encoding/binary"
	"fmt"
)

// data is a part of an answer. All of a frame counts against our window.
func (c *conn) data(f *frame) error {
	if c.used += int64(len(f.payload)); c.used > ownWindow {
		return errDataSent
	}
	if c.used >= ownWindow/2 {
		c.out = appendNumber(c.out, kindWindow, 0, uint32(c.used))
		c.used = 0
	}
	if f.stream == 0 || f.stream >= c.next {
		return errStream
	}
	b, err := f.content()
	if err != nil {
		return err
	}
	u := c.find(f.stream)
	if u == nil {
		return nil // given up
	}
	if !u.message || len(b) > 0 {
		if why := u.take(b, c.o.Judge); why != "" {
			c.out = appendNumber(c.out, kindReset, f.stream, codeCancel)
			c.end(u, Answer{Failure: Protocol, Detail: why})
			return nil
		}
	}
	if f.flags&flagEndStream != 0 {
		c.end(u, Answer{Failure: Protocol, Detail: "the answer has no status"})
	}
	return nil
}

// take adds bytes of the answer's one message, which mostly come at once. It
// returns what is wrong with them.
func (u *underWay) take(b []byte, judge func([]byte) uint8) string {
	if u.message {
		return "the answer has more than one message"
	}
	if len(u.partial) > 0 {
		u.partial = append(u.partial, b...)
		b = u.partial
	}
	if len(b) >= 5 {
		size := binary.BigEndian.Uint32(b[1:])
		switch {
		case b[0] != 0:
			return "the answer is compressed"
		case size > maxAnswer:
			return "the answer has more than 64 KiB"
		case len(b) > 5+int(size):
			return "the answer has more than one message"
		case len(b) == 5+int(size):
			u.verdict, u.message, u.partial = judge(b[5:]), true, nil
			return ""
		}
	}
	if len(u.partial) == 0 {
		u.partial = append(u.partial, b...)
	}
	return ""
}

// block is headers or their continuation.
func (c *conn) block(f *frame) error {
	b := f.payload
	if f.kind == kindContinuation {
		if c.partOf == 0 {
			return errOrder
		}
	} else {
		if f.stream&1 == 0 || f.stream >= c.next {
			return errStream
		}
		var err error
		if b, err = f.content(); err != nil {
			return err
		}
		c.partEnds = f.flags&flagEndStream != 0
	}
	if f.flags&flagEndHeaders == 0 || c.partOf != 0 {
		if len(c.partial)+len(b) > maxBlock {
			return errLong
		}
		c.partial, c.partOf = append(c.partial, b...), f.stream
		if f.flags&flagEndHeaders == 0 {
			return nil
		}
		b = c.partial
	}
	c.partial, c.partOf = c.partial[:0], 0
	m, err := c.headers.read(b) // also those of a call that was given up: they change the table
	if err != nil {
		return fmt.Errorf("read headers: %w", err)
	}
	if u := c.find(f.stream); u != nil {
		c.said(u, m, c.partEnds)
	}
	return nil
}

// said is what headers or trailers say of a call.
func (c *conn) said(u *underWay, m meaning, ends bool) {
	if m.http >= 0 {
		u.http = m.http
	}
	if !ends {
		return
	}
	switch {
	case u.http >= 0 && u.http != 200:
		c.end(u, Answer{Failure: Status, Code: u.http, Detail: fmt.Sprintf("HTTP status %d", u.http)})
	case m.grpc > 0:
		c.end(u, Answer{Failure: Status, Code: m.grpc, Detail: m.message})
	case m.grpc < 0 || u.http < 0:
		c.end(u, Answer{Failure: Protocol, Detail: "the answer has no status"})
	case !u.message:
		c.end(u, Answer{Failure: Protocol, Detail: "the answer has no message"})
	default:
		c.end(u, Answer{Verdict: u.verdict})
	}
}
