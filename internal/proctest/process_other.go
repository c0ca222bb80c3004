//go:build !linux

package proctest

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Elsewhere than on Linux a server outlives a test binary that is killed, a
// port is only probably free, and servers cannot be paused.

func childAttr(syscall.Signal) *syscall.SysProcAttr { return nil }

func killTree(p *os.Process) error { return p.Kill() }

// Group lists nothing here.
func Group(int) []string { return nil }

func pause(*os.Process) error { return errors.ErrUnsupported }

func resume(*os.Process) error { return errors.ErrUnsupported }

// HoldPort returns a port that was free.
func HoldPort() (port int, free func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
