package main

import (
	"bytes"
	"errors"
	"net"
	"syscall"
)

// http1Answer is what who speaks HTTP/1 to the gRPC listener is told: an answer
// of HTTP/2 would be noise to a browser, a load balancer's probe or curl.
const http1Answer = "HTTP/1.1 505 HTTP Version Not Supported\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"Connection: close\r\n" +
	"\r\n" +
	"This is the gRPC listener of weir serve: it speaks HTTP/2 with prior knowledge.\n" +
	"HTTP checks are answered at --http, port 8080 unless it was set; metrics and health at --admin, port 6070.\n"

// answerHTTP1 has connections of l answer requests of HTTP/1 before their
// server ends them, which knows HTTP/2 only and waits for the client to begin.
func answerHTTP1(l net.Listener) net.Listener { return &http1Listener{l} }

type http1Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l *http1Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &http1Conn{Conn: c}, nil
}

// http1Conn looks at the first bytes that it reads. Nothing is written before.
type http1Conn struct {
	net.Conn
	looked, answered bool
}

// Read implements net.Conn.
func (c *http1Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.looked && n > 0 {
		c.looked = true
		if isHTTP1(p[:n]) {
			c.answered = true
			_, _ = c.Conn.Write([]byte(http1Answer)) // who does not read it has gone
		}
	}
	return n, err
}

// Write implements net.Conn. What the server says after the answer is dropped.
func (c *http1Conn) Write(p []byte) (int, error) {
	if c.answered {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// SyscallConn implements syscall.Conn, where the connection does: for a server
// that has read the first bytes, and found them to be HTTP/2's.
func (c *http1Conn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok && !c.answered {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// CloseWrite says that nothing follows, where the connection can.
func (c *http1Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// isHTTP1 tells whether a connection begins with a request of HTTP/1: a method
// that is not HTTP/2's PRI, and a path.
func isHTTP1(b []byte) bool {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"} {
		if rest, ok := bytes.CutPrefix(b, []byte(method)); ok && len(rest) > 0 && rest[0] == ' ' {
			return true
		}
	}
	return false
}
