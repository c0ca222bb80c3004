//go:build !linux

package nowait

import "net"

// Conn is not to be had here.
type Conn struct{}

// New returns nil.
func New(net.Conn) *Conn { return nil }

// Read is not called.
func (*Conn) Read([]byte) (int, error) { return 0, net.ErrClosed }

// Silent is not called.
func (*Conn) Silent() bool { return false }

// TryWrite is not called.
func (*Conn) TryWrite([]byte) (int, error) { return 0, net.ErrClosed }
