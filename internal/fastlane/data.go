package fastlane

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/grpc/codes"
)

// dataLocked handles DATA.
func (cn *conn) dataLocked(f frame, p []byte) error {
	if f.id == 0 {
		return broken(codeProtocol, "DATA without a stream")
	}
	full := int64(len(p))
	if cn.recv -= full; cn.recv < 0 {
		return broken(codeFlow, "more DATA than the connection's window")
	}
	// The connection's window is given back at once, that of the stream bounds
	// what is held.
	if cn.unsaid += full; cn.unsaid >= connWindow/2 {
		cn.out = appendWindow(cn.out, 0, uint32(cn.unsaid))
		cn.recv += cn.unsaid
		cn.unsaid = 0
	}
	p, err := unpad(f, p)
	if err != nil {
		return err
	}
	ends := f.flags&flagEndStream != 0
	if len(p) == 0 && !ends {
		if err := cn.budget.control(1); err != nil {
			return err
		}
	}
	c := cn.streams.get(f.id)
	switch {
	case c == nil && f.id > cn.lastID:
		return broken(codeProtocol, "DATA of a stream that never was")
	case c == nil && (cn.closed.byUs(f.id) || cn.drain == drainLast):
		return nil // on its way when we closed the stream
	case c == nil && !cn.closed.has(f.id):
		return cn.budget.control(1) // nobody knows any more which side closed it
	case c == nil || c.ended:
		return cn.refuseLocked(f.id, codeClosed, Malformed)
	}
	if c.recv -= full; c.recv < 0 {
		return cn.refuseLocked(f.id, codeFlow, Malformed)
	}
	if padding := full - int64(len(p)); padding > 0 && !ends {
		c.recv += padding
		cn.out = appendWindow(cn.out, c.id, uint32(padding))
	}
	if c.length >= 0 {
		c.length -= int64(len(p))
		if c.length < 0 || ends && c.length != 0 {
			return cn.refuseLocked(f.id, codeProtocol, Malformed)
		}
	}
	if ends {
		return cn.endRequestLocked(c, p)
	}
	if c.exchange != nil {
		c.exchange.takeLocked(p)
		return nil
	}
	return cn.gatherLocked(c, p)
}

// gatherLocked keeps part of a message. One that would be too large is refused
// as soon as its prefix says so.
func (cn *conn) gatherLocked(c *Call, p []byte) error {
	if cn.buffered+len(p) > cn.server.o.MaxBuffered {
		cn.server.refused(Overload)
		cn.failLocked(c, uint32(codes.ResourceExhausted), "too many incomplete messages on this connection")
		return nil
	}
	cn.buffered += len(p)
	c.held += len(p)
	c.message = append(c.message, p...)
	if len(c.message) >= grpcPrefixLen {
		if code, text := cn.checkPrefix(c.message, false); code != codes.OK {
			cn.failLocked(c, uint32(code), text)
		}
	}
	return nil
}

// checkPrefix says what is wrong with a message or the part of it that is here.
func (cn *conn) checkPrefix(p []byte, whole bool) (codes.Code, string) {
	if len(p) < grpcPrefixLen {
		if len(p) == 0 {
			return codes.Internal, "a unary call without a message"
		}
		return codes.Internal, "a message cut short"
	}
	n := int64(binary.BigEndian.Uint32(p[1:]))
	have := int64(len(p) - grpcPrefixLen)
	switch {
	case p[0] == 1:
		return codes.Internal, "grpc: compressed flag set with identity or empty encoding"
	case p[0] != 0:
		return codes.Internal, fmt.Sprintf("grpc: received unexpected payload format %d", p[0])
	case n > int64(cn.server.o.MaxMessage):
		cn.server.refused(TooLarge)
		return codes.ResourceExhausted, fmt.Sprintf("grpc: received message larger than max (%d vs. %d)", n, cn.server.o.MaxMessage)
	case have > n:
		return codes.Internal, "more than one message in a unary call"
	case whole && have < n:
		return codes.Internal, "a message cut short"
	}
	return codes.OK, ""
}

// endRequestLocked handles the end of a request, and the last of its data.
func (cn *conn) endRequestLocked(c *Call, p []byte) error {
	if c.ended = true; c.length > 0 {
		return cn.refuseLocked(c.id, codeProtocol, Malformed)
	}
	if c.exchange != nil {
		c.exchange.takeLocked(p)
		c.exchange.endBodyLocked()
		return nil
	}
	if len(c.message) > 0 { // it came in parts
		if err := cn.gatherLocked(c, p); err != nil || c.answered {
			return err
		}
		p = c.message
	}
	if code, text := cn.checkPrefix(p, true); code != codes.OK {
		cn.failLocked(c, uint32(code), text)
		return nil
	}
	c.served, c.received = true, cn.now
	cn.due = append(cn.due, due{call: c, msg: p[grpcPrefixLen:]})
	return nil
}
