package h2client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/net/http2/hpack"
)

const (
	// ownWindow is what a server may send unasked, per stream and, with the same
	// again whenever half is used, per connection.
	ownWindow  = 1 << 24
	maxAnswer  = 64 << 10
	maxBlock   = 64 << 10
	lastStream = math.MaxInt32 - 2
)

// conn is the protocol's state of one connection. Its methods append what is to
// be sent to out, and tell of ended calls through told. Whoever holds the line's
// lock may use it.
//
//	new --(SETTINGS of the server)--> open --(GOAWAY, streams used up)--> draining
type conn struct {
	o        *Options
	told     func(c Call, a Answer) // an ended call
	out      []byte
	fields   []hpack.HeaderField
	blocks   blocks
	tabled   bool // they refer to the server's table
	began    bool // the first block was sent
	open     bool
	draining bool

	headers  *reader
	partial  []byte // a header block that goes on
	partOf   uint32 // the stream it is of, 0 for none
	partEnds bool

	next       uint32 // stream
	oldest     uint32 // no stream below it is under way
	calls      []underWay
	under      int
	maxStreams uint32
	room       int64 // of the server's window for the connection
	streamRoom int64 // and for a stream, at its start
	used       int64 // of our window, not given back yet
}

// underWay is a call on a stream. The zero value is none.
type underWay struct {
	call    Call
	sent    time.Duration
	stream  uint32
	message bool // it is there and judged
	verdict uint8
	http    int
	partial []byte
}

// newConn begins a connection: the preface is in out.
func newConn(o *Options, fields []hpack.HeaderField, told func(Call, Answer)) *conn {
	c := &conn{
		o: o, told: told, fields: fields, headers: newReader(), blocks: newBlocks(fields, tableSize), tabled: true,
		next: 1, oldest: 1, maxStreams: math.MaxUint32, room: 65535, streamRoom: 65535,
		calls: make([]underWay, ringSize(o.Outstanding)),
	}
	c.out = append(c.out, preface...)
	c.out = appendHeader(c.out, 12, kindSettings, 0, 0)
	c.out = appendSetting(c.out, settingPush, 0)
	c.out = appendSetting(c.out, settingInitialWindow, ownWindow)
	c.out = appendNumber(c.out, kindWindow, 0, ownWindow-65535)
	return c
}

// ringSize leaves room for some that take longer than the others.
func ringSize(outstanding int) int {
	n := 64
	for n < 4*outstanding {
		n *= 2
	}
	return n
}

func (c *conn) at(stream uint32) *underWay {
	return &c.calls[int(stream>>1)&(len(c.calls)-1)]
}

// find returns the call of a stream, nil when it is over.
func (c *conn) find(stream uint32) *underWay {
	if u := c.at(stream); stream != 0 && u.stream == stream {
		return u
	}
	return nil
}

// send begins a call, if there is room for it now.
func (c *conn) send(call Call, now time.Duration) (bool, error) {
	if !c.open || c.draining || c.under >= len(c.calls)/2 || uint32(c.under) >= c.maxStreams {
		return false, nil
	}
	for c.at(c.next).stream != 0 { // of one that takes very long
		c.next += 2
	}
	if c.next > lastStream {
		c.draining = true
		return false, nil
	}
	start := len(c.out)
	block := c.blocks.rest
	if !c.began {
		block = c.blocks.first
	}
	c.out = append(appendHeader(c.out, len(block), kindHeaders, flagEndHeaders, c.next), block...)
	data := len(c.out)
	c.out = appendHeader(c.out, 0, kindData, flagEndStream, c.next)
	c.out = append(c.out, 0, 0, 0, 0, 0)
	c.out = c.o.Encode(c.out, call.N)
	size := len(c.out) - data - headerSize
	if int64(size) > c.room {
		c.out = c.out[:start]
		return false, nil
	}
	if size > maxPayload || int64(size) > c.streamRoom {
		c.out = c.out[:start]
		return false, fmt.Errorf("a request of %d bytes is more than the server takes at once (%d)", size, min(c.streamRoom, maxPayload))
	}
	c.out[data], c.out[data+1], c.out[data+2] = byte(size>>16), byte(size>>8), byte(size)
	binary.BigEndian.PutUint32(c.out[data+headerSize+1:], uint32(size-5))
	c.began = true
	c.room -= int64(size)
	*c.at(c.next) = underWay{call: call, sent: now, stream: c.next, http: -1}
	c.next += 2
	c.under++
	return true, nil
}

// end takes a call out and tells what became of it.
func (c *conn) end(u *underWay, a Answer) {
	call := u.call
	*u = underWay{}
	c.under--
	c.told(call, a)
}

// fail ends all calls from a stream on.
func (c *conn) fail(from uint32, a Answer) {
	for s := max(from|1, c.oldest); s < c.next && c.under > 0; s += 2 {
		if u := c.find(s); u != nil {
			c.end(u, a)
		}
	}
}

// expire ends the calls that were sent before an instant.
func (c *conn) expire(before time.Duration) {
	for ; c.oldest < c.next; c.oldest += 2 {
		u := c.find(c.oldest)
		if u == nil {
			continue
		}
		if u.sent > before {
			return
		}
		c.out = appendNumber(c.out, kindReset, u.stream, codeCancel)
		c.end(u, Answer{Failure: Timeout})
	}
}

// feed reads the frames that b begins with, and returns how many bytes they are.
func (c *conn) feed(b []byte) (int, error) {
	read := 0
	for {
		f, n, err := cut(b[read:])
		if err != nil || n == 0 {
			return read, err
		}
		if err := c.frame(&f); err != nil {
			return read, err
		}
		read += n
	}
}

var (
	errOrder    = errors.New("a header block was interrupted")
	errStream   = errors.New("a frame is of a stream that it cannot be of")
	errShort    = errors.New("a frame has a wrong length")
	errPush     = errors.New("a push, though they are off")
	errFirst    = errors.New("the server did not begin with its settings: does it speak HTTP/2 without TLS?")
	errLong     = errors.New("headers of more than 64 KiB")
	errWindow   = errors.New("a window of the server overflowed")
	errDataSent = errors.New("more data than the window allows")
)

func (c *conn) frame(f *frame) error {
	if c.partOf != 0 && (f.kind != kindContinuation || f.stream != c.partOf) {
		return errOrder
	}
	if !c.open && (f.kind != kindSettings || f.flags&flagAck != 0) {
		return errFirst
	}
	switch f.kind {
	case kindData:
		return c.data(f)
	case kindHeaders, kindContinuation:
		return c.block(f)
	case kindReset:
		return c.reset(f)
	case kindSettings:
		return c.settings(f)
	case kindPing:
		return c.ping(f)
	case kindGoAway:
		return c.goAway(f)
	case kindWindow:
		return c.window(f)
	case kindPush:
		return errPush
	}
	return nil // priority, and what we do not know
}
