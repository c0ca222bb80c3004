package h2client

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load is a closed loop of so many calls, and what became of each.
type load struct {
	o       Options
	callers int
	total   int64

	next atomic.Int64
	mu   sync.Mutex
	got  map[int64]Answer
	done chan struct{}
	left atomic.Int64
}

func newLoad(addr string, callers int, total int64) *load {
	began := time.Now()
	l := &load{callers: callers, total: total, got: map[int64]Answer{}, done: make(chan struct{})}
	l.left.Store(total)
	l.o = Options{
		Addr: addr, Path: "/test.Echo/Say", UserAgent: "test", Conns: 2, Outstanding: 64, Timeout: 10 * time.Second,
		Clock:  func() time.Duration { return time.Since(began) },
		Encode: func(dst []byte, n int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(n)) },
		Judge: func(m []byte) uint8 {
			if len(m) != 8 {
				return 0
			}
			return uint8(binary.BigEndian.Uint64(m)%100) + 1
		},
		Answered: l.answered,
	}
	return l
}

func (l *load) answered(a Answer) (Call, bool) {
	l.mu.Lock()
	if _, twice := l.got[a.N]; twice {
		panic("a call was told of twice")
	}
	l.got[a.N] = a
	l.mu.Unlock()
	if l.left.Add(-1) == 0 {
		close(l.done)
	}
	n := l.next.Add(1) - 1
	return Call{N: n, Due: a.Now}, n < l.total
}

func (l *load) run(t testing.TB) map[int64]Answer {
	t.Helper()
	c, err := Dial(t.Context(), l.o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range min(int64(l.callers), l.total) {
		if !c.Send(Call{N: l.next.Add(1) - 1}) {
			t.Error("a call was not taken")
		}
	}
	c.Flush()
	select {
	case <-l.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%d calls of %d are not answered, %d outstanding", l.left.Load(), l.total, c.Outstanding())
	}
	if n := c.Outstanding(); n != 0 {
		t.Errorf("%d calls are outstanding after all are answered", n)
	}
	return l.got
}

// count is how many answers of each failure there are.
func count(got map[int64]Answer) (n [Failures]int) {
	for _, a := range got {
		n[a.Failure]++
	}
	return n
}

// TestEveryCallIsAnsweredOnce: each with its own answer, whatever the server's
// bounds are.
func TestEveryCallIsAnsweredOnce(t *testing.T) {
	for name, s := range map[string]*server{
		"plain":        {grow: true, reads: true},
		"miserly":      {miserly: true},
		"one stream":   {grow: true, alone: true, settings: appendSetting(nil, settingMaxStreams, 1)},
		"no table":     {grow: true, reads: true, settings: appendSetting(nil, settingTableSize, 0)},
		"small window": {grow: true, settings: appendSetting(nil, settingInitialWindow, 13)},
		"in pieces":    {grow: true, answer: inPieces},
	} {
		t.Run(name, func(t *testing.T) {
			s.start(t)
			// 13 bytes each: the connection's window of 64 KiB is used up twice.
			for n, a := range newLoad(s.addr, 100, 12_000).run(t) {
				if a.Failure != OK || int64(a.Verdict) != n%100+1 {
					t.Fatalf("call %d: %+v", n, a)
				}
			}
			if n := s.wrongs.Load(); n != 0 {
				t.Errorf("the client went beyond the server's bounds %d times", n)
			}
		})
	}
}

// inPieces answers with padding, continuations and a message a byte at a time.
func inPieces(out []byte, stream uint32, message []byte) []byte {
	out = append(appendHeader(out, 1+5+4+1, kindHeaders, flagPadded|flagPriority, stream), 4, 0, 0, 0, 0, 0, headBlock[0], 0, 0, 0, 0)
	out = append(appendHeader(out, len(headBlock)-1, kindContinuation, flagEndHeaders, stream), headBlock[1:]...)
	whole := append([]byte{0, 0, 0, 0, byte(len(message))}, message...)
	for _, b := range whole {
		out = append(appendHeader(out, 4, kindData, flagPadded, stream), 2, b, 0, 0)
	}
	out = append(appendHeader(out, 3, 99, 0, stream), 1, 2, 3) // a kind of frame from the future
	out = append(appendHeader(out, 8, kindPing, 0, 0), "echo me!"...)
	return append(appendHeader(out, len(tailBlock), kindHeaders, flagEndHeaders|flagEndStream, stream), tailBlock...)
}

func head(out []byte, stream uint32, block ...byte) []byte {
	return append(appendHeader(out, len(block), kindHeaders, flagEndHeaders|flagEndStream, stream), block...)
}

// TestFailuresAreTold: by their kind, and the load goes on.
func TestFailuresAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		answer  func(out []byte, stream uint32, message []byte) []byte
		failure Failure
		code    int
		detail  string
	}{
		"status": {
			func(out []byte, s uint32, _ []byte) []byte {
				return head(out, s, append(append([]byte{0x88, 0x00, 11}, "grpc-status"...), 2, '1', '4')...)
			}, Status, 14, "",
		},
		"http": {
			func(out []byte, s uint32, _ []byte) []byte { return head(out, s, 0x8d) }, Status, 404, "HTTP status 404",
		},
		"reset": {
			func(out []byte, s uint32, _ []byte) []byte { return appendNumber(out, kindReset, s, 2) }, Reset, 2, "RST_STREAM",
		},
		"refused": {
			func(out []byte, s uint32, _ []byte) []byte { return appendNumber(out, kindReset, s, codeRefused) },
			Refused, codeRefused, "RST_STREAM",
		},
		"no message": {
			func(out []byte, s uint32, _ []byte) []byte {
				return head(out, s, append([]byte{0x88}, tailBlock...)...)
			},
			Protocol, 0, "no message",
		},
		"no status": {
			func(out []byte, s uint32, _ []byte) []byte { return head(out, s, 0x88) }, Protocol, 0, "no status",
		},
		"compressed": {
			func(out []byte, s uint32, _ []byte) []byte {
				return append(appendHeader(out, 6, kindData, 0, s), 1, 0, 0, 0, 1, 7)
			}, Protocol, 0, "compressed",
		},
		"too long": {
			func(out []byte, s uint32, _ []byte) []byte {
				return append(appendHeader(out, 6, kindData, 0, s), 0, 1, 0, 0, 1, 7)
			}, Protocol, 0, "64 KiB",
		},
		"two messages": {
			func(out []byte, s uint32, _ []byte) []byte {
				return append(appendHeader(out, 10, kindData, 0, s), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			}, Protocol, 0, "more than one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&server{answer: tc.answer, grow: true}).start(t)
			for n, a := range newLoad(s.addr, 10, 200).run(t) {
				if a.Failure != tc.failure || a.Code != tc.code || !strings.Contains(a.Detail, tc.detail) {
					t.Fatalf("call %d: %+v", n, a)
				}
			}
		})
	}
}

// TestSilenceEnds: calls without an answer are reset and told of in their time.
func TestSilenceEnds(t *testing.T) {
	var resets atomic.Int64
	s := (&server{
		answer: func(out []byte, stream uint32, message []byte) []byte {
			if message[7]%2 == 0 {
				return out
			}
			return yes(out, stream, message)
		},
		peek: func(f *frame) {
			if f.kind == kindReset {
				resets.Add(1)
			}
		},
	}).start(t)
	l := newLoad(s.addr, 10, 40)
	l.o.Timeout = 50 * time.Millisecond
	n := count(l.run(t))
	if n[OK] != 20 || n[Timeout] != 20 {
		t.Errorf("answers %v", n)
	}
	if resets.Load() < 1 {
		t.Error("no stream was reset")
	}
}

// TestNobodyReads: a server that takes nothing does not hold the client up.
func TestNobodyReads(t *testing.T) {
	stop := make(chan struct{})
	s := (&server{begun: func(net.Conn) { <-stop }}).start(t)
	t.Cleanup(func() { close(stop) })
	l := newLoad(s.addr, 100, 300)
	l.o.Timeout, l.o.Conns, l.o.Outstanding = 50*time.Millisecond, 1, 100
	l.o.Encode = func(dst []byte, _ int64) []byte { return append(dst, make([]byte, 16_000)...) }
	if n := count(l.run(t)); n[OK] != 0 || n[Timeout]+n[Broken] != 300 {
		t.Errorf("answers %v", n)
	}
}

// TestBrokenConnectionsAreReplaced, and what was on them is told as failed.
func TestBrokenConnectionsAreReplaced(t *testing.T) {
	var conns, asked atomic.Int64
	var mu sync.Mutex
	var last net.Conn
	s := &server{grow: true, begun: func(c net.Conn) {
		conns.Add(1)
		mu.Lock()
		last = c
		mu.Unlock()
	}}
	s.answer = func(out []byte, stream uint32, message []byte) []byte {
		if asked.Add(1)%100 == 0 {
			mu.Lock()
			_ = last.Close()
			mu.Unlock()
			return out
		}
		return yes(out, stream, message)
	}
	s.start(t)
	l := newLoad(s.addr, 4, 500)
	l.o.Conns = 1
	n := count(l.run(t))
	if n[Broken] < 4 || n[OK]+n[Broken] != 500 || conns.Load() < 4 {
		t.Errorf("answers %v over %d connections", n, conns.Load())
	}
}

// TestGoAway: what the server still answers counts, the rest goes to the next
// connection; nothing is lost without a word.
func TestGoAway(t *testing.T) {
	var conns atomic.Int64
	s := &server{grow: true, begun: func(net.Conn) { conns.Add(1) }}
	s.answer = func(out []byte, stream uint32, message []byte) []byte {
		if stream > 201 {
			return out // it said so
		}
		out = yes(out, stream, message)
		if stream == 201 {
			out = appendHeader(out, 8, kindGoAway, 0, 0)
			out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, stream), 0)
		}
		return out
	}
	s.start(t)
	l := newLoad(s.addr, 8, 1000)
	l.o.Conns = 1
	n := count(l.run(t))
	if n[OK]+n[Refused] != 1000 || n[OK] < 900 || conns.Load() < 9 {
		t.Errorf("answers %v over %d connections", n, conns.Load())
	}
}

func TestNotHTTP2(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	lo := newLoad(l.Addr().String(), 2, 4)
	lo.o.Timeout = 100 * time.Millisecond
	for _, a := range lo.run(t) {
		if a.Failure == OK || a.Detail == "" {
			t.Errorf("%+v", a)
		}
	}
}

func TestDialFails(t *testing.T) {
	l := newLoad("127.0.0.1:1", 1, 1)
	if _, err := Dial(t.Context(), l.o); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, l.o); err == nil {
		t.Error("no error")
	}
	if _, err := Dial(t.Context(), Options{}); err == nil {
		t.Error("no error of no options")
	}
}

func TestCloseTellsWhatIsLeft(t *testing.T) {
	s := (&server{answer: func(out []byte, _ uint32, _ []byte) []byte { return out }}).start(t)
	l := newLoad(s.addr, 5, 5)
	c, err := Dial(t.Context(), l.o)
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(5) {
		c.Send(Call{N: n})
	}
	c.Flush()
	c.Close()
	if n := count(l.got); n[Closed] != 5 {
		t.Errorf("answers %v", n)
	}
	if c.Send(Call{}) {
		t.Error("a closed client takes calls")
	}
}

func TestOutstandingIsBounded(t *testing.T) {
	s := (&server{answer: func(out []byte, _ uint32, _ []byte) []byte { return out }}).start(t)
	l := newLoad(s.addr, 1, 1)
	l.o.Conns, l.o.Outstanding = 3, 2
	c, err := Dial(t.Context(), l.o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	taken := 0
	for n := range int64(10) {
		if c.Send(Call{N: n}) {
			taken++
		}
	}
	if taken != 6 || c.Outstanding() != 6 {
		t.Errorf("%d taken, %d outstanding, want 6", taken, c.Outstanding())
	}
	l.left.Store(100)
}

func BenchmarkEcho(b *testing.B) {
	s := (&server{grow: true}).start(b)
	l := newLoad(s.addr, 64, int64(b.N))
	l.o.Outstanding = 64
	var left atomic.Int64
	left.Store(int64(b.N))
	l.o.Answered = func(a Answer) (Call, bool) {
		if left.Add(-1) == 0 {
			close(l.done)
		}
		n := l.next.Add(1) - 1
		return Call{N: n, Due: a.Now}, n < l.total
	}
	b.ReportAllocs()
	l.run(b)
}
