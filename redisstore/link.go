package redisstore

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/nowait"
)

// link is a connection for flights, one at a time. A flight's command is written
// in one piece and its answer read into the flight's memory, by the goroutine of
// the flight: through the client library it would be copied, allocated and
// parsed once more.
type link struct {
	conn  net.Conn
	plain *watchedConn  // the same, where that can be written without waiting
	quick *nowait.Conn  // of plain
	limit time.Duration // of a call
	until time.Time     // the connection's deadline

	command []byte // of the call, before it is sent
}

// call makes one round trip. After an error that is no replyError the link is
// of no use.
func (l *link) call(began time.Time, command []byte, a *answer) error {
	if err := l.extend(began); err != nil {
		return err
	}
	if l.quick == nil {
		if _, err := l.conn.Write(command); err != nil {
			return err
		}
		return a.readFrom(l.conn)
	}
	l.command = command
	err := a.readFrom(l)
	l.command = nil
	return err
}

// extend has the connection's deadline be at least the limit away, and at most a
// quarter more: to set it costs more than to decide.
func (l *link) extend(began time.Time) error {
	until := began.Add(l.limit)
	if !until.After(l.until) {
		return nil
	}
	l.until = until.Add(l.limit / 4)
	if err := l.conn.SetDeadline(l.until); err != nil {
		return &notSentError{err}
	}
	return nil
}

// send writes a command while another waits for its answer, and returns what there
// was no room for. It does not wait.
func (l *link) send(began time.Time, command []byte) (rest []byte, err error) {
	if err := l.extend(began); err != nil {
		return nil, err
	}
	sent, err := l.quick.Tell(command)
	switch {
	case err != nil && sent == 0:
		return nil, &notSentError{err}
	case sent == 0: // it has spoken, or there is no room at all
		return nil, &notSentError{errMalformed}
	}
	return command[sent:], err
}

// rouse has who waits for an answer wait no longer. It gets an error, and the link
// is as good as before once its deadline is set again.
func (l *link) rouse() { _ = l.conn.SetReadDeadline(time.Unix(1, 0)) }

// roused makes it so.
func (l *link) roused() { l.until = time.Time{} }

// Read implements io.Reader for call: the first sends its command. Like plain it
// writes to nobody who has closed the connection, but without the scheduler's
// knowing: a system call that it knows of wakes its monitor, which then looks fifty
// thousand times a second for others that block.
func (l *link) Read(b []byte) (int, error) {
	command := l.command
	if command == nil {
		return l.quick.Read(b)
	}
	l.command = nil
	sent, n, err := l.quick.Ask(command, b)
	switch {
	case sent == len(command):
		return n, err
	case err == nil && n > 0: // what nobody has asked for
		return 0, &notSentError{errMalformed}
	case err != nil && sent == 0:
		return 0, &notSentError{err}
	case err != nil:
		return 0, err
	}
	if _, err := l.plain.Conn.Write(command[sent:]); err != nil { // not by plain: a part has been sent
		return 0, err
	}
	return l.quick.Read(b)
}

func newLink(conn net.Conn, limit time.Duration) *link {
	l := &link{conn: conn, limit: limit}
	if w, ok := conn.(*watchedConn); ok {
		l.plain, l.quick = w, nowait.New(w.Conn)
	}
	return l
}

// eval makes the round trip of a flight.
func (l *link) eval(began time.Time, command []byte, f *flight, asking bool) error {
	if asking {
		err := l.call(began, []byte("*1\r\n$6\r\nASKING\r\n"), &f.found)
		if _, refused := replyText(err); err != nil && !refused { // what follows then says why
			return &notSentError{err}
		}
	}
	return l.call(began, command, &f.found)
}

// links are those of a node that nobody uses.
type links struct {
	dial  func(ctx context.Context) (net.Conn, error)
	limit time.Duration

	mu struct {
		sync.Mutex
		idle   []*link
		closed bool
	}
}

// borrow returns an idle link or a new one.
func (p *links) borrow(ctx context.Context) (*link, error) {
	if l := p.idle(); l != nil {
		return l, nil
	}
	conn, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	return newLink(conn, p.limit), nil
}

// idle returns an idle link, or nil.
func (p *links) idle() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.mu.idle) - 1
	if last < 0 {
		return nil
	}
	l := p.mu.idle[last]
	p.mu.idle = p.mu.idle[:last]
	return l
}

// giveBack ends the use of a link that works.
func (p *links) giveBack(l *link) {
	p.mu.Lock()
	closed := p.mu.closed || len(p.mu.idle) >= maxIdle
	if !closed {
		p.mu.idle = append(p.mu.idle, l)
	}
	p.mu.Unlock()
	if closed {
		l.close()
	}
}

// maxIdle bounds the idle links: those of the shard's flights, and of others'
// that were redirected here.
const maxIdle = flightsPerShard + 2

func (p *links) close() {
	p.mu.Lock()
	idle := p.mu.idle
	p.mu.idle, p.mu.closed = nil, true
	p.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
}

// close does not say goodbye: the server needs none.
func (l *link) close() { _ = l.conn.Close() }

// greet names a new connection and chooses the protocol. It has no rights that a
// user could lack.
func greet(conn net.Conn, limit time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := ask(conn, bufio.NewReaderSize(conn, 512), "HELLO", "2", "SETNAME", clientName)
	if err != nil && weir.CodeOf(err) != weir.CodeProtocol {
		return err
	}
	return nil
}

// clientName is what CLIENT LIST tells.
const clientName = "weir"
