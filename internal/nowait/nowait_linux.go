package nowait

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// Conn is a connection with a descriptor of its own. Make one with New.
type Conn struct {
	raw     syscall.RawConn
	in, out transfer
	look    func(fd uintptr) bool
	spare   [1]byte // what look reads into
}

// transfer is one system call of a direction, and what came of it.
type transfer struct {
	once func(fd uintptr) bool // made once, so that none is allocated per call
	b    []byte
	n    int
	err  error
}

// New returns nil for a connection that has no descriptor of its own, as TLS.
func New(nc net.Conn) *Conn {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	c := &Conn{raw: raw}
	c.in.once, c.out.once, c.look = c.in.read, c.out.write, c.in.tryRead
	return c
}

// Read implements io.Reader. It waits only when there is nothing.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.in.b = b
	return c.in.end(c.raw.Read(c.in.once))
}

// Silent tells whether the peer has neither said anything nor closed the
// connection. What it said is lost: it is for who expects nothing.
func (c *Conn) Silent() bool {
	c.in.b = c.spare[:]
	n, err := c.in.end(c.raw.Read(c.look))
	return n == 0 && err == nil
}

// TryWrite writes as much as there is room for, perhaps nothing.
func (c *Conn) TryWrite(b []byte) (int, error) {
	c.out.b = b
	return c.out.end(c.raw.Write(c.out.once))
}

// end is the outcome, given what Go says of the connection.
func (t *transfer) end(err error) (int, error) {
	t.b = nil
	if err != nil {
		return 0, err
	}
	return t.n, t.err
}

func (t *transfer) read(fd uintptr) bool {
	t.tryRead(fd)
	return t.n > 0 || t.err != nil // else it is called again when there is something
}

func (t *transfer) tryRead(fd uintptr) bool {
	var errno syscall.Errno
	t.n, errno = call(syscall.SYS_READ, fd, t.b)
	switch {
	case errno == syscall.EAGAIN:
		t.err = nil
	case errno != 0:
		t.err = os.NewSyscallError("read", errno)
	case t.n == 0:
		t.err = io.EOF
	default:
		t.err = nil
	}
	return true
}

func (t *transfer) write(fd uintptr) bool {
	var errno syscall.Errno
	t.n, errno = call(syscall.SYS_WRITE, fd, t.b)
	if t.err = nil; errno != 0 && errno != syscall.EAGAIN {
		t.err = os.NewSyscallError("write", errno)
	}
	return true // whatever came of it: nobody waits
}

// call makes a system call on a descriptor that does not block, as all of Go's
// sockets.
func call(number, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}
