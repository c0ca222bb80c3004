package nowait_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
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

// TestAsk: a question is written to who has said nothing, and its answer waited for.
func TestAsk(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	b := make([]byte, 8)
	go func() {
		q := make([]byte, 4)
		for range 3 {
			_, _ = io.ReadFull(theirs, q)
			_, _ = theirs.Write(bytes.ToUpper(q))
		}
	}()
	for range 3 {
		sent, n, err := c.Ask([]byte("what"), b)
		if sent != 4 || string(b[:n]) != "WHAT" || err != nil {
			t.Fatalf("sent %d, read %q, %v", sent, b[:n], err)
		}
	}
	_ = ours.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if sent, n, err := c.Ask([]byte("hm"), b); sent != 2 || n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("without an answer: sent %d, read %d, %v", sent, n, err)
	}
	if sent, n, err := c.Ask([]byte("hm"), b); sent != 0 || n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("too late: sent %d, read %d, %v", sent, n, err)
	}
}

// TestAskNobody: nothing is sent to who has spoken, or is gone.
func TestAskNobody(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	b := make([]byte, 8)
	_, _ = theirs.Write([]byte("x"))
	arrived(t, ours)
	if sent, n, err := c.Ask([]byte("what"), b); sent != 0 || n != 1 || err != nil {
		t.Errorf("who had spoken: sent %d, read %d, %v", sent, n, err)
	}
	_ = theirs.CloseWrite()
	arrived(t, ours)
	if sent, n, err := c.Ask([]byte("what"), b); sent != 0 || n != 0 || err != io.EOF {
		t.Errorf("who had gone: sent %d, read %d, %v", sent, n, err)
	}
	if err := theirs.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, _ := theirs.Read(b); n != 0 {
		t.Errorf("%q arrived", b[:n])
	}
}

// TestAskAtLength: of a question that there is no room for, a part is sent.
func TestAskAtLength(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	question := make([]byte, 64<<20)
	sent, n, err := c.Ask(question, make([]byte, 8))
	if sent == 0 || sent == len(question) || n != 0 || err != nil {
		t.Fatalf("sent %d, read %d, %v", sent, n, err)
	}
	if n, err := io.ReadFull(theirs, make([]byte, sent)); err != nil {
		t.Errorf("%d of %d bytes: %v", n, sent, err)
	}
}

// TestTell: what is written while another waits for the answer.
func TestTell(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	answers := make(chan string)
	go func() {
		b := make([]byte, 8)
		for range 3 {
			n, err := c.Read(b)
			answers <- fmt.Sprint(string(b[:n]), err)
		}
	}()
	for range 3 {
		if n, err := c.Tell([]byte("what")); n != 4 || err != nil {
			t.Fatalf("sent %d, %v", n, err)
		}
		q := make([]byte, 4)
		_, _ = io.ReadFull(theirs, q)
		_, _ = theirs.Write(bytes.ToUpper(q))
		if got := <-answers; got != "WHAT<nil>" {
			t.Errorf("answered %q", got)
		}
	}
	_ = ours.SetWriteDeadline(time.Now().Add(-time.Second))
	if n, err := c.Tell([]byte("hm")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("too late: sent %d, %v", n, err)
	}
	_ = ours.SetWriteDeadline(time.Time{})
	long := make([]byte, 64<<20)
	sent, err := c.Tell(long)
	if sent == 0 || sent == len(long) || err != nil {
		t.Fatalf("sent %d of %d, %v", sent, len(long), err)
	}
	if n, err := io.ReadFull(theirs, make([]byte, sent)); err != nil {
		t.Errorf("%d of %d bytes: %v", n, sent, err)
	}
}

// TestTellNobody: nothing is sent to who has spoken, or is gone.
func TestTellNobody(t *testing.T) {
	ours, theirs := pair(t)
	c := nowait.New(ours)
	b := make([]byte, 8)
	_, _ = theirs.Write([]byte("x"))
	arrived(t, ours)
	if n, err := c.Tell([]byte("what")); n != 0 || err != nil {
		t.Errorf("who had spoken: sent %d, %v", n, err)
	}
	if n, err := c.Read(b); n != 1 || err != nil {
		t.Errorf("of what had been said %d bytes are left, %v", n, err)
	}
	_ = theirs.CloseWrite()
	arrived(t, ours)
	if n, err := c.Tell([]byte("what")); n != 0 || err != io.EOF {
		t.Errorf("who had gone: sent %d, %v", n, err)
	}
	_ = theirs.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, _ := theirs.Read(b); n != 0 {
		t.Errorf("%q arrived", b[:n])
	}
	_ = theirs.SetLinger(0)
	_ = theirs.Close()
	if _, err := c.Tell([]byte("x")); err == nil {
		t.Error("told to a peer that is gone")
	}
}

// arrived waits until there is something to read, or the end.
func arrived(t *testing.T, c *net.TCPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return err == nil
	}); err != nil {
		t.Fatal(err)
	}
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
		_, _ = d.Tell(b)
		_, _ = c.Read(b)
		_, _ = c.TryWrite(b)
		_, _ = d.Read(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
