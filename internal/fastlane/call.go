package fastlane

import (
	"crypto/tls"
	"net"
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
	conn     *conn
	id       uint32
	chained  *Call // in the table of streams
	handler  Handler
	received time.Time
	timeout  time.Duration

	ended    bool // all of the request is here
	served   bool // the handler has it
	answered bool
	gone     bool // reset: nobody waits for the answer
	spoilt   bool // its handler panicked and may still hold it: not used again

	send, recv int64 // windows
	length     int64 // content-length not yet received, -1: not said
	message    []byte
	held       int    // bytes of message that count as buffered
	since      uint32 // tick of its headers, or since when it is blocked

	blocked  bool
	pending  []byte // DATA that waits for a window
	sent     int    // of pending
	after    *Call  // in the queue of the blocked
	exchange *exchange

	scratch []byte
}

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
	cn := c.conn
	cn.mu.Lock()
	if !c.answered {
		if len(msg) > cap(c.scratch) && c.scratch != nil && len(msg) <= 64<<10 {
			c.scratch = make([]byte, 0, 2*len(msg)) // the next answer is likely as long
		}
		cn.replyLocked(c, msg)
	}
	cn.unlockAndWake()
}

// Fail answers with a status other than OK.
func (c *Call) Fail(code codes.Code, message string) {
	cn := c.conn
	cn.mu.Lock()
	if !c.answered {
		cn.failLocked(c, uint32(code), message)
	}
	cn.unlockAndWake()
}
