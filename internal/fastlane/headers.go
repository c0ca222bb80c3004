package fastlane

import (
	"encoding/binary"

	"google.golang.org/grpc/codes"
)

// headersLocked handles HEADERS.
func (cn *conn) headersLocked(f frame, p []byte) error {
	if f.id&1 == 0 {
		return broken(codeProtocol, "HEADERS of a stream that is not a client's")
	}
	f.flags &^= flagSelfish // a flag that is not defined means nothing: RFC 9113, 4.1
	p, err := unpad(f, p)
	if err != nil {
		return err
	}
	if f.flags&flagPriority != 0 {
		if len(p) < 5 {
			return broken(codeFrameSize, "no room for the priority")
		}
		if binary.BigEndian.Uint32(p)&maxStreamID == f.id {
			// The block must be decoded all the same: the stream is refused then.
			f.flags |= flagSelfish
		}
		p = p[5:]
	}
	if f.flags&flagEndHeaders != 0 {
		return cn.blockLockedDone(f.id, f.flags, p)
	}
	cn.blockID, cn.blockFlags, cn.blockCount = f.id, f.flags, 0
	cn.block = append(cn.block[:0], p...)
	return nil
}

// flagSelfish is ours: a stream that depends on itself. No frame has this flag.
const flagSelfish = 0x80

// Bounds of header blocks in several frames.
const mostContinuations = 16

func (cn *conn) continuationLocked(f frame, p []byte) error {
	if cn.blockID == 0 || f.id != cn.blockID {
		return broken(codeProtocol, "CONTINUATION of nothing")
	}
	cn.blockCount++
	if cn.blockCount > mostContinuations || len(cn.block)+len(p) > 2*cn.server.o.MaxHeaderBytes {
		return &connError{code: codeCalm, why: FrameFlood, text: "a header block too large"}
	}
	cn.block = append(cn.block, p...)
	if f.flags&flagEndHeaders == 0 {
		return nil
	}
	id := cn.blockID
	cn.blockID = 0
	return cn.blockLockedDone(id, cn.blockFlags, cn.block)
}

// blockLockedDone handles a header block that is complete.
func (cn *conn) blockLockedDone(id uint32, flags uint8, block []byte) error {
	opens, changes := id > cn.lastID, cn.decoder.table.changes
	known := opens && cn.memo.knows(block, changes)
	if !known {
		if err := cn.decoder.decode(block); err == errBomb {
			return &connError{code: codeCalm, why: FrameFlood, text: err.Error()}
		} else if err != nil {
			return broken(codeCompression, err.Error())
		}
	}
	if !opens {
		return cn.trailersLocked(id, flags)
	}
	cn.lastID = id
	if cn.drain == drainLast {
		return nil // GOAWAY has said that these are not served
	}
	h := &cn.memo.head
	switch {
	case flags&flagSelfish != 0:
		return cn.refuseLocked(id, codeProtocol, Malformed)
	case known:
	case cn.decoder.size > cn.server.o.MaxHeaderBytes:
		return cn.tooLargeLocked(id)
	default:
		h = &cn.head
		if h.read(cn.decoder.fields); h.malformed != "" {
			return cn.refuseLocked(id, codeProtocol, Malformed)
		}
		if h.fast() && changes == cn.decoder.table.changes {
			cn.memo.keep(block, changes, h)
		}
	}
	if cn.inUse >= cn.server.o.MaxStreams {
		return cn.refuseLocked(id, codeRefused, Overload)
	}
	c := cn.newCallLocked(id)
	c.ended = flags&flagEndStream != 0
	if c.length = h.length; c.ended && c.length > 0 {
		return cn.refuseLocked(id, codeProtocol, Malformed)
	}
	if !h.fast() {
		return cn.fallBackLocked(c)
	}
	c.handler, c.timeout = cn.server.handlers[h.handler-1], h.timeout
	if c.ended {
		cn.failLocked(c, uint32(codes.Internal), "a unary call without a message")
	}
	return nil
}

// trailersLocked handles a header block of a stream that is not new.
func (cn *conn) trailersLocked(id uint32, flags uint8) error {
	c := cn.streams.get(id)
	switch {
	case c == nil && (cn.closed.byUs(id) || cn.drain == drainLast):
		return nil // on its way when we closed the stream
	case c == nil && cn.closed.has(id):
		return broken(codeClosed, "HEADERS of a stream that has ended")
	case c == nil:
		return broken(codeProtocol, "HEADERS of a stream that was passed over")
	case c.ended:
		return cn.refuseLocked(id, codeClosed, Malformed)
	case flags&flagEndStream == 0, !goodTrailer(cn.decoder.fields):
		return cn.refuseLocked(id, codeProtocol, Malformed)
	}
	return cn.endRequestLocked(c, nil)
}

// newCallLocked opens a stream.
func (cn *conn) newCallLocked(id uint32) *Call {
	c := cn.free
	if c == nil {
		c = &Call{conn: cn}
	} else {
		cn.free = c.after
		c.after, c.exchange, c.message = nil, nil, c.message[:0]
	}
	c.stage = stage{id: id, send: cn.peerWindow, recv: cn.server.window, since: cn.server.tick.Load()}
	cn.inUse++
	cn.streams.put(c)
	return c
}

// dropLocked takes a stream out of the table: nothing more is sent on it.
func (cn *conn) dropLocked(c *Call, byUs bool) {
	cn.streams.remove(c)
	cn.closed.add(c.id, byUs)
	cn.buffered -= c.held
	c.held = 0
	c.gone = true
}

// keepMessage is how large a buffer a free call may hold.
const keepMessage = 4 << 10

// forgetLocked lets a call be used again: it was answered, or never served.
func (cn *conn) forgetLocked(c *Call) {
	cn.inUse--
	if cn.inUse == 0 {
		cn.idleSince = cn.server.tick.Load()
		cn.drainedLocked()
	}
	if c.spoilt || cn.dead {
		return
	}
	if cap(c.message) > keepMessage {
		c.message = nil
	}
	if cap(c.pending) > keepMessage {
		c.pending = nil
	}
	c.after, cn.free = cn.free, c
}

// abandonLocked takes a stream out that was reset, by us or by the peer: which
// says whether more of it may be on its way.
func (cn *conn) abandonLocked(c *Call, byUs bool) {
	if c.blocked {
		cn.unblockLocked(c)
	}
	cn.dropLocked(c, byUs)
	switch {
	case c.exchange != nil:
		c.exchange.abortLocked(errReset) // free when its handler returns
	case !c.served || c.answered:
		cn.forgetLocked(c)
	}
}

// refuseLocked resets a stream. Those count as the peer's own resets do: it
// could have us make them.
func (cn *conn) refuseLocked(id uint32, code errorCode, why Reason) error {
	if c := cn.streams.get(id); c != nil {
		cn.abandonLocked(c, true)
	} else if id > cn.lastID {
		return broken(code, "an error of a stream that never was")
	} else {
		cn.closed.add(id, true)
	}
	cn.out = appendReset(cn.out, id, code)
	cn.server.refused(why)
	return cn.budget.reset(cn)
}

// tooLargeLocked answers that there are too many header fields.
func (cn *conn) tooLargeLocked(id uint32) error {
	from := len(cn.out)
	b := cn.encoder.begin(appendFrame(cn.out, 0, frameHeaders, flagEndHeaders|flagEndStream, id))
	cn.out = appendField(b, ":status", "431")
	closeFrame(cn.out, from)
	return cn.refuseLocked(id, codeNone, TooLarge)
}

// closedIDs remembers which streams ended last, to tell what came too late from
// what is wrong.
type closedIDs struct {
	ring [64]uint32 // id<<1, and 1 if we ended it first
	n    uint32
}

func (r *closedIDs) add(id uint32, byUs bool) {
	r.ring[r.n%uint32(len(r.ring))] = id<<1 | uint32(truth(byUs))
	r.n++
}

func (r *closedIDs) has(id uint32) bool { return r.find(id<<1) || r.find(id<<1|1) }

func (r *closedIDs) byUs(id uint32) bool { return r.find(id<<1 | 1) }

func (r *closedIDs) find(v uint32) bool {
	for _, have := range r.ring {
		if have == v {
			return true
		}
	}
	return false
}
