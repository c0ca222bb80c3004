package fastlane

import (
	"encoding/binary"
	"strconv"

	"google.golang.org/grpc/codes"
)

// Blocks of header fields, in HPACK. A connection's first answer puts its
// content type and status into the peer's table; those after it refer to them,
// in three bytes. A peer that wants a smaller table than HTTP/2 begins with gets
// no entries at all.
const (
	status200     = "\x88"
	grpcType      = "application/grpc"
	typeKept      = "\x5f\x10" + grpcType // index 31 is content-type
	typePlain     = "\x0f\x10\x10" + grpcType
	statusName    = "\x0bgrpc-status"
	okKept        = "\x40" + statusName + "\x010"
	okPlain       = "\x00" + statusName + "\x010"
	messageName   = "\x00\x0cgrpc-message"
	newestIndexed = 0x80 | 62
	emptyTable    = 0x20
)

// encoder is what the peer's table holds.
type encoder struct {
	hasType, hasOK bool
	plain          bool // nothing is put into the table
	shrink         bool // the next block says so
}

// limit takes the peer's bound of its table.
func (e *encoder) limit(size uint32) {
	if size < defaultTable && !e.plain {
		*e = encoder{plain: true, shrink: true}
	}
}

// begin starts a block.
func (e *encoder) begin(b []byte) []byte {
	if e.shrink {
		e.shrink = false
		b = append(b, emptyTable)
	}
	return b
}

// head appends the fields before a message.
func (e *encoder) head(b []byte) []byte {
	b = append(e.begin(b), status200...)
	switch {
	case e.plain:
		return append(b, typePlain...)
	case !e.hasType:
		e.hasType = true
		return append(b, typeKept...)
	case e.hasOK:
		return append(b, newestIndexed+1)
	}
	return append(b, newestIndexed)
}

// ok appends the fields after a message.
func (e *encoder) ok(b []byte) []byte {
	b = e.begin(b)
	switch {
	case e.plain:
		return append(b, okPlain...)
	case !e.hasOK:
		e.hasOK = true
		return append(b, okKept...)
	}
	return append(b, newestIndexed)
}

// closeFrame writes the length of the frame that begins at from.
func closeFrame(b []byte, from int) {
	n := len(b) - from - frameHeaderLen
	b[from], b[from+1], b[from+2] = byte(n>>16), byte(n>>8), byte(n)
}

// replyLocked answers with a message, or with as much as there is a window for.
func (cn *conn) replyLocked(c *Call, msg []byte) {
	c.answered = true
	cn.answers++
	if c.gone || cn.dead {
		cn.forgetLocked(c)
		return
	}
	b := cn.out
	from := len(b)
	b = cn.encoder.head(appendFrame(b, 0, frameHeaders, flagEndHeaders, c.id))
	closeFrame(b, from)
	need := int64(grpcPrefixLen + len(msg))
	if need > cn.send || need > c.send || need > maxFrame {
		cn.out = b
		c.pending = append(c.pending[:0], 0)
		c.pending = binary.BigEndian.AppendUint32(c.pending, uint32(len(msg)))
		c.pending = append(c.pending, msg...)
		cn.blockLocked(c)
		cn.pumpLocked()
		return
	}
	cn.send -= need
	b = appendFrame(b, int(need), frameData, 0, c.id)
	b = binary.BigEndian.AppendUint32(append(b, 0), uint32(len(msg)))
	cn.out = append(b, msg...)
	cn.finishLocked(c)
}

// finishLocked sends the status of a call whose message was sent.
func (cn *conn) finishLocked(c *Call) {
	from := len(cn.out)
	cn.out = cn.encoder.ok(appendFrame(cn.out, 0, frameHeaders, flagEndHeaders|flagEndStream, c.id))
	closeFrame(cn.out, from)
	cn.endLocked(c)
}

// endLocked ends a stream on which END_STREAM was sent.
func (cn *conn) endLocked(c *Call) {
	if !c.ended { // RFC 9113, 8.1: the rest of the request is of no interest
		cn.out = appendReset(cn.out, c.id, codeNone)
	}
	cn.dropLocked(c, !c.ended)
	cn.forgetLocked(c)
}

// failLocked answers with a status and no message.
func (cn *conn) failLocked(c *Call, code uint32, message string) {
	c.answered = true
	cn.answers++
	if c.gone || cn.dead {
		cn.forgetLocked(c)
		return
	}
	from := len(cn.out)
	b := cn.encoder.head(appendFrame(cn.out, 0, frameHeaders, flagEndHeaders|flagEndStream, c.id))
	if codes.Code(code) == codes.OK {
		b = append(b, okPlain...)
	} else {
		var room [10]byte
		digits := strconv.AppendUint(room[:0], uint64(code), 10)
		b = append(b, "\x00"+statusName...)
		b = append(append(b, byte(len(digits))), digits...)
	}
	if message != "" {
		b = append(b, messageName...)
		b = appendText(b, message)
	}
	cn.out = b
	closeFrame(b, from)
	cn.endLocked(c)
}

// maxText keeps a status within one frame.
const maxText = 1024

// appendText appends a value, percent-encoded as gRPC wants its messages.
func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	n := len(s)
	for i := range len(s) {
		if escaped(s[i]) {
			n += 2
		}
	}
	b = appendInteger(b, 0, 7, n)
	for i := range len(s) {
		if c := s[i]; escaped(c) {
			const hex = "0123456789ABCDEF"
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

func escaped(c byte) bool { return c < ' ' || c > '~' || c == '%' }

// appendInteger appends an integer of RFC 7541, 5.1.
func appendInteger(b []byte, first byte, bits uint, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// appendField appends a field that is not put into the peer's table.
func appendField(b []byte, name, value string) []byte {
	b = appendInteger(append(b, 0), 0, 7, len(name))
	b = append(b, name...)
	b = appendInteger(b, 0, 7, len(value))
	return append(b, value...)
}
