package nowait_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/nowait"
)

// pair is the two ends of a connection.
func pair(t *testing.T) (ours, theirs *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	for _, c := range []net.Conn{here, there} {
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	}
	return here.(*net.TCPConn), there.(*net.TCPConn)
}

// TestBytes sends bytes both ways, and an end.
func TestBytes(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	want := make([]byte, 1<<20)
	for i := range want {
		want[i] = byte(rand.Uint32())
	}
	go func() {
		_, _ = theirs.Write(want) // slowly: Read has to wait
		time.Sleep(10 * time.Millisecond)
		_, _ = theirs.Write(want[:3])
		_ = theirs.CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, append(want, want[:3]...)) {
		t.Errorf("read %d bytes: %v", len(got), err)
	}
	if n, err := c.TryWrite([]byte("answer")); n != 6 || err != nil {
		t.Errorf("wrote %d: %v", n, err)
	}
	_ = ours.CloseWrite()
	if got, err := io.ReadAll(theirs); string(got) != "answer" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFull writes until the peer takes no more: the last write returns less, and
// what was taken arrives.
func TestFull(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	b, taken := make([]byte, 64<<10), 0
	for {
		n, err := c.TryWrite(b)
		if err != nil {
			t.Fatal(err)
		}
		if taken += n; n < len(b) {
			break
		}
		if taken > 1<<30 {
			t.Fatal("there is no end")
		}
	}
	if n, err := io.ReadFull(theirs, make([]byte, taken)); err != nil {
		t.Errorf("%d of %d bytes: %v", n, taken, err)
	}
}

// TestEnds: deadlines, closing and a peer that is gone are errors as net's.
func TestEnds(t *testing.T) {
	ours, _ := pair(t)
	c := nowait.New(ours)
	_ = ours.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline: %v", err)
	}
	_ = ours.SetReadDeadline(time.Time{})
	go func() {
		time.Sleep(10 * time.Millisecond)
		_ = ours.Close()
	}()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed while it is read: %v", err)
	}
	if _, err := c.TryWrite([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("written when closed: %v", err)
	}

	ours, theirs := pair(t)
	c = nowait.New(ours)
	_ = theirs.SetLinger(0)
	_ = theirs.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("reset: %v", err)
	}
	if _, err := c.TryWrite([]byte("x")); err == nil {
		t.Error("written to a peer that is gone")
	}
}

// TestSilent: who expects nothing learns of bytes and of an end, and does not wait.
func TestSilent(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	for range 3 {
		if !c.Silent() {
			t.Fatal("nothing was said")
		}
	}
	_, _ = theirs.Write([]byte("x"))
	soon(t, "a byte", func() bool { return !c.Silent() })
	if !c.Silent() {
		t.Error("the byte was taken, and nothing said since")
	}
	go func() { _, _ = theirs.Write([]byte("later")) }()
	b := make([]byte, 8)
	if n, err := c.Read(b); string(b[:n]) != "later" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	_ = theirs.Close()
	soon(t, "the end", func() bool { return !c.Silent() })
	if c.Silent() {
		t.Error("an end does not pass")
	}
}

// soon waits for what the network brings.
func soon(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for range 2000 {
		if seen() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%s was not seen", what)
}

// TestNone: what has no descriptor is not for it.
func TestNone(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if nowait.New(a) != nil || nowait.New(tls.Client(a, &tls.Config{MinVersion: tls.VersionTLS13})) != nil {
		t.Error("a connection without a descriptor was taken")
	}
}

// TestNoAllocations: a call costs none.
func TestNoAllocations(t *testing.T) {
	ours, theirs := pair(t)
	c, d := nowait.New(ours), nowait.New(theirs)
	b := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		_ = c.Silent()
		_, _ = c.TryWrite(b)
		_, _ = d.Read(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
