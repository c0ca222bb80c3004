package redisstore

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// watchedConn refuses to write on a connection that the server has already
// closed. Without it, the first batch after a restart would be written into a
// dead socket, and nobody could say that it had not run. A look costs about a
// microsecond, once per batch; a link without TLS has a cheaper one, see link.Read.
type watchedConn struct {
	net.Conn
	raw    syscall.RawConn
	look   func(fd uintptr) // peek, made once
	closed bool             // what peek saw
	buf    [1]byte
}

func watchConn(c net.Conn) net.Conn {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return c
	}
	w := &watchedConn{Conn: c, raw: raw}
	w.look = w.peek
	return w
}

// Write is called by one goroutine at a time.
func (c *watchedConn) Write(b []byte) (int, error) {
	if !c.alive() {
		return 0, &notSentError{io.EOF}
	}
	return c.Conn.Write(b)
}

// alive tells whether the server has not closed the connection.
func (c *watchedConn) alive() bool {
	// Control and not Read, which would wait for a reader that waits for the
	// answer.
	return c.raw.Control(c.look) == nil && !c.closed
}

// peek looks for an end of stream without taking anything from it.
func (c *watchedConn) peek(fd uintptr) {
	n, _, err := syscall.Recvfrom(int(fd), c.buf[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	switch {
	case err == nil:
		// With TLS, a goodbye comes before the end and hides it.
		c.closed = n == 0 || peerClosed(fd)
	case !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR):
		c.closed = true
	}
}
