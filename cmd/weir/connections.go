package main

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// boundConnections has l accept no more than most at once. Those that come then
// wait in the system's queue until one is closed.
func boundConnections(l net.Listener, most int) net.Listener {
	return &boundListener{Listener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

type boundListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *boundListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &boundConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close implements net.Listener.
func (l *boundListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// CloseWrite says that nothing follows, where the connection can.
func (c *boundConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SyscallConn implements syscall.Conn, where the connection does.
func (c *boundConn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// boundConn gives its place back when it is closed.
type boundConn struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
