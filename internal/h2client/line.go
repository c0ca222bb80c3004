package h2client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// line is one connection after another, and the calls that wait for one.
type line struct {
	client *Client
	index  int

	mu struct {
		sync.Mutex
		conn    *conn // nil while there is none
		net     net.Conn
		waiting []waiting // oldest first
		writing bool      // somebody writes what was in conn.out,
		since   time.Duration
		spare   []byte
		closed  bool
		why     error // there is no connection
	}
}

// waiting is a call that was not sent yet.
type waiting struct {
	call Call
	from time.Duration
}

// submit sends a call, or has it wait. It returns false when too many are out.
func (l *line) submit(call Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed || l.outstandingLocked() >= l.client.o.Outstanding {
		return false
	}
	l.addLocked(call, l.client.o.Clock())
	return true
}

func (l *line) outstandingLocked() int {
	n := len(l.mu.waiting)
	if l.mu.conn != nil {
		n += l.mu.conn.under
	}
	return n
}

// addLocked puts a call behind those that wait, or into the buffer.
func (l *line) addLocked(call Call, now time.Duration) {
	if c := l.mu.conn; c != nil && len(l.mu.waiting) == 0 {
		sent, err := c.send(call, now)
		if sent {
			return
		}
		if err != nil {
			l.toldLocked(call, Answer{Failure: Protocol, Detail: err.Error()}, now)
			return
		}
	}
	l.mu.waiting = append(l.mu.waiting, waiting{call, now})
}

// pumpLocked sends what waited, as far as there is room.
func (l *line) pumpLocked(now time.Duration) {
	c := l.mu.conn
	if c == nil {
		return
	}
	n := 0
	for most := len(l.mu.waiting); n < most; { // not those that come meanwhile
		w := l.mu.waiting[n]
		sent, err := c.send(w.call, now)
		if !sent && err == nil {
			break
		}
		n++
		if err != nil {
			l.toldLocked(w.call, Answer{Failure: Protocol, Detail: err.Error()}, now)
		}
	}
	l.mu.waiting = append(l.mu.waiting[:0], l.mu.waiting[n:]...)
}

// toldLocked tells what became of a call, and takes the next in its place.
func (l *line) toldLocked(call Call, a Answer, now time.Duration) {
	a.Call, a.Line, a.Now = call, l.index, now
	if next, more := l.client.o.Answered(a); more && !l.mu.closed {
		l.mu.waiting = append(l.mu.waiting, waiting{next, now})
	}
}

// flush writes what is in the buffer, unless somebody is at it, who then goes on.
func (l *line) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.mu.writing && l.mu.conn != nil && len(l.mu.conn.out) > 0 {
		c, to, b := l.mu.conn, l.mu.net, l.mu.conn.out
		c.out, l.mu.spare = l.mu.spare[:0], nil
		l.mu.writing, l.mu.since = true, l.client.o.Clock()
		l.mu.Unlock()
		_, err := to.Write(b)
		l.mu.Lock()
		l.mu.writing, l.mu.spare = false, b
		if err != nil {
			_ = to.Close() // who reads notices
			return
		}
	}
}

// run keeps the line connected until ctx ends. first is told of the first
// attempt.
func (l *line) run(ctx context.Context, first chan<- error) {
	pause := 10 * time.Millisecond
	for {
		to, err := l.dial(ctx)
		if first != nil {
			first <- err
			first = nil
		}
		if err == nil {
			if l.serve(to) {
				pause = 10 * time.Millisecond
			}
		} else {
			l.mu.Lock()
			l.mu.why = err
			l.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

func (l *line) dial(ctx context.Context) (net.Conn, error) {
	o := &l.client.o
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	to, err := new(net.Dialer).DialContext(ctx, "tcp", o.Addr)
	if err != nil || o.TLS == nil {
		return to, err
	}
	config := o.TLS.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(o.Addr)
	}
	secure := tls.Client(to, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = to.Close()
		return nil, err
	}
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		_ = to.Close()
		return nil, errors.New("the server does not speak HTTP/2 over TLS (ALPN h2)")
	}
	return secure, nil
}

// serve uses a connection until it breaks or has to be left, and tells whether
// it was of any use.
func (l *line) serve(to net.Conn) bool {
	defer func() { _ = to.Close() }()
	l.mu.Lock()
	if l.mu.closed {
		l.mu.Unlock()
		return false
	}
	var now time.Duration // of what is being read
	c := newConn(&l.client.o, l.client.fields, func(call Call, a Answer) { l.toldLocked(call, a, now) })
	l.mu.conn, l.mu.net = c, to
	l.mu.Unlock()
	l.flush()

	buf, have := make([]byte, 64<<10), 0
	for {
		n, err := to.Read(buf[have:])
		have += n
		l.mu.Lock()
		now = l.client.o.Clock()
		read, wrong := c.feed(buf[:have])
		if err = errors.Join(wrong, err); err != nil || c.draining && c.under == 0 {
			l.leaveLocked(err, &now)
			l.mu.Unlock()
			return c.began
		}
		l.pumpLocked(now)
		l.mu.Unlock()
		have = copy(buf, buf[read:have])
		l.flush()
	}
}

// leaveLocked ends what was under way on a connection.
func (l *line) leaveLocked(err error, now *time.Duration) {
	c := l.mu.conn
	l.mu.conn, l.mu.net = nil, nil
	switch {
	case l.mu.closed:
		c.fail(0, Answer{Failure: Closed})
	case c.draining:
		c.fail(0, Answer{Failure: Refused, Detail: "the server closed the connection after GOAWAY"})
	default:
		if !errors.Is(err, io.EOF) {
			l.mu.why = err
		} else {
			l.mu.why = fmt.Errorf("the server closed the connection: %w", err)
		}
		c.fail(0, Answer{Failure: Broken, Detail: l.mu.why.Error()})
	}
}

// sweep ends the calls that have waited too long.
func (l *line) sweep(now time.Duration) {
	l.mu.Lock()
	before := now - l.client.o.Timeout
	old := 0
	for old < len(l.mu.waiting) && l.mu.waiting[old].from <= before {
		old++
	}
	expired := append([]waiting(nil), l.mu.waiting[:old]...)
	l.mu.waiting = append(l.mu.waiting[:0], l.mu.waiting[old:]...)
	for _, w := range expired {
		a := Answer{Failure: Timeout}
		if l.mu.conn == nil && l.mu.why != nil {
			a = Answer{Failure: Broken, Detail: l.mu.why.Error()}
		}
		l.toldLocked(w.call, a, now)
	}
	if c := l.mu.conn; c != nil {
		told := c.told
		c.told = func(call Call, a Answer) { l.toldLocked(call, a, now) }
		c.expire(before)
		c.told = told
		if stuck := l.mu.writing && l.mu.since < before; stuck || c.draining && c.under == 0 {
			_ = l.mu.net.Close() // who reads notices
		}
		l.pumpLocked(now)
	}
	l.mu.Unlock()
	l.flush()
}

// close ends the line: what is under way is told as closed.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.closed = true
	if l.mu.net != nil {
		_ = l.mu.net.Close() // who reads notices
	}
	left := l.mu.waiting
	l.mu.waiting = nil
	now := l.client.o.Clock()
	for _, w := range left {
		l.toldLocked(w.call, Answer{Failure: Closed}, now)
	}
}
