package fastlane

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
)

// Call is one call that waits for its answer, or one stream of the fallback. It
// is used again for another once it was answered.
//
//	headers ─► open ─► (END_STREAM) ─► served ─► answered ─► free
//	             │                       │           │
//	             │                       │           └─ no window: blocked, then free
//	             └── reset: free         └── reset: forgotten by the table,
//	                                         free when the handler answers
type Call struct {
	stage
	conn     *conn
	chained  *Call // in the table of streams
	after    *Call // in the queue of the blocked, or among the free
	handler  Handler
	exchange *exchange
	received time.Time

	message []byte // what came of it, if in parts
	pending []byte // DATA that waits for a window
	scratch []byte // room for the answer
	kept    any    // see Keep
}

// stage is how far a call is: all of it that begins anew with each. It has no
// pointers, so that it is set by a few plain writes.
type stage struct {
	id    uint32
	since uint32        // tick of its headers, or since when it is blocked
	turn  atomic.Uint32 // serving, answeredAtOnce or returned

	ended    bool // all of the request is here
	served   bool // the handler has it
	answered bool
	gone     bool // reset: nobody waits for the answer
	spoilt   bool // its handler panicked and may still hold it: not used again
	blocked  bool // waits for a window

	timeout    time.Duration
	send, recv int64 // windows
	length     int64 // content-length not yet received, -1: not said
	held       int   // bytes of message that count as buffered
	sent       int   // of pending
}

// While its handler is called, a call may be answered without the lock: the
// reader takes the answer from scratch when the handler has returned.
const (
	serving        uint32 = iota // or not yet
	answeredAtOnce               // by who calls Reply
	returned                     // by the reader: who answers now takes the lock
)

// Received is when the last bytes of the call were read. Calls that came
// together share it.
func (c *Call) Received() time.Time { return c.received }

// Deadline is when the caller stops waiting, zero if it did not say.
func (c *Call) Deadline() time.Time {
	if c.timeout == noTimeout {
		return time.Time{}
	}
	return c.received.Add(c.timeout)
}

// TLS is how the connection is secured, nil if it is not. It is not to be
// changed.
func (c *Call) TLS() *tls.ConnectionState { return c.conn.tls }

// RemoteAddr is the address of the peer.
func (c *Call) RemoteAddr() net.Addr { return c.conn.nc.RemoteAddr() }

// firstScratch is room for most answers.
const firstScratch = 512

// Buffer is empty and has room to append an answer to. It is the call's until
// the answer.
func (c *Call) Buffer() []byte {
	if c.scratch == nil {
		c.scratch = make([]byte, 0, firstScratch)
	}
	return c.scratch[:0]
}

// Reply answers with a message, which is copied.
func (c *Call) Reply(msg []byte) {
	if len(msg) <= mostAtOnce && c.turn.Load() == serving {
		c.keep(msg)
		if c.turn.CompareAndSwap(serving, answeredAtOnce) {
			return
		}
	}
	cn := c.conn
	cn.mu.Lock()
	if c.openLocked() {
		if len(msg) > cap(c.scratch) && c.scratch != nil && len(msg) <= 64<<10 {
			c.scratch = make([]byte, 0, 2*len(msg)) // the next answer is likely as long
		}
		cn.replyLocked(c, msg)
	}
	cn.unlockAndWake()
}

// keep has msg in scratch, where it usually is already.
func (c *Call) keep(msg []byte) {
	if n := len(msg); n <= cap(c.scratch) && n > 0 && &msg[0] == &c.scratch[:1][0] {
		c.scratch = msg
		return
	}
	c.scratch = append(c.scratch[:0], msg...)
}

// mostAtOnce is how long an answer may be to wait in scratch: those of a read wait
// together, and longer ones would be held twice.
const mostAtOnce = 4 << 10

// openLocked tells whether the call waits for its answer.
func (c *Call) openLocked() bool { return !c.answered && c.turn.Load() != answeredAtOnce }

// Fail answers with a status other than OK.
func (c *Call) Fail(code codes.Code, message string) {
	cn := c.conn
	cn.mu.Lock()
	if c.openLocked() {
		cn.failLocked(c, uint32(code), message)
	}
	cn.unlockAndWake()
}
