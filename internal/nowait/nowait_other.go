//go:build !linux

package nowait

import "net"

// Conn is not to be had here.
type Conn struct{}

// New returns nil.
func New(net.Conn) *Conn { return nil }

// Read is not called.
func (*Conn) Read([]byte) (int, error) { return 0, net.ErrClosed }

// Ask is not called.
func (*Conn) Ask([]byte, []byte) (sent, n int, err error) { return 0, 0, net.ErrClosed }

// Tell is not called.
func (*Conn) Tell([]byte) (int, error) { return 0, net.ErrClosed }

// TryWrite is not called.
func (*Conn) TryWrite([]byte) (int, error) { return 0, net.ErrClosed }
