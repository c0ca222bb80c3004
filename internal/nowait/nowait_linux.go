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
	ask     func(fd uintptr) bool // made once, too
	asked   bool
	tell    func(fd uintptr) bool // the same
	heard   byte
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
	c.in.once, c.out.once, c.ask, c.tell = c.in.read, c.out.write, c.exchange, c.announce
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

// Ask writes a question and reads the first of the answer, which is one system call
// less than both: what finds that the peer has said nothing before is the same that
// finds that there is no answer yet. sent is how much of the question was written:
//
//	nothing    it failed before, or the peer had spoken (n > 0) or gone (io.EOF)
//	a part     there was room for no more: the rest is the caller's, and to read
//	all        n and err are Read's
func (c *Conn) Ask(question, b []byte) (sent, n int, err error) {
	c.in.b, c.out.b, c.out.n, c.asked = b, question, 0, false
	err = c.raw.Read(c.ask)
	sent, c.out.b = c.out.n, nil
	n, err = c.in.end(err)
	return sent, n, err
}

func (c *Conn) exchange(fd uintptr) bool {
	if c.asked {
		return c.in.read(fd)
	}
	c.asked = true
	if c.in.read(fd) {
		return true
	}
	c.out.write(fd)
	c.in.err = c.out.err
	return c.out.n < len(c.out.b)
}

// Tell writes to a peer that has said nothing, as much as there is room for. It may be
// called while another waits in Read. Where the peer has spoken nothing is sent, and
// where it has gone that is io.EOF.
func (c *Conn) Tell(b []byte) (int, error) {
	c.out.b = b
	return c.out.end(c.raw.Write(c.tell))
}

func (c *Conn) announce(fd uintptr) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&c.heard)), 1,
		syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	c.out.n, c.out.err = 0, nil
	switch {
	case errno == syscall.EAGAIN:
		return c.out.write(fd)
	case errno != 0 && errno != syscall.EINTR:
		c.out.err = os.NewSyscallError("recvfrom", errno)
	case errno == 0 && n == 0:
		c.out.err = io.EOF
	}
	return true
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
	var errno syscall.Errno
	t.n, errno = call(syscall.SYS_READ, fd, t.b)
	switch {
	case errno == syscall.EAGAIN:
		return false // it is called again when there is something
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
