package fastlane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
)

// hammer is a client that costs nearly nothing: it sends the same bytes with
// other ids and counts the ends of streams in what comes back.
type hammer struct {
	nc    net.Conn
	ids   []int  // where in batch the ids are
	batch []byte // the frames of some calls
	next  uint32
	in    []byte
	have  int
	out   int64 // bytes of DATA received, to be given back
}

// newHammer warms the table of the connection with one call, and prepares
// batches of n.
func newHammer(tb testing.TB, addr, path, msg string, n int, more ...string) *hammer {
	p := newPeer(tb, addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	p.must(p.fr.WriteWindowUpdate(0, 1<<30))
	p.call(1, path, msg, more...)
	if o := p.outcome(1); o.what != "answered" {
		tb.Fatal(o)
	}
	h := &hammer{nc: p.nc, next: 3, in: make([]byte, 64<<10)}
	block := p.block(usual(path, more...)...)
	for range n {
		h.ids = append(h.ids, len(h.batch)+5)
		h.batch = append(appendFrame(h.batch, len(block), frameHeaders, flagEndHeaders, 0), block...)
		h.ids = append(h.ids, len(h.batch)+5)
		m := message(msg)
		h.batch = append(appendFrame(h.batch, len(m), frameData, flagEndStream, 0), m...)
	}
	return h
}

// round makes a batch of calls and waits for all answers.
func (h *hammer) round() error {
	for i, at := range h.ids {
		binary.BigEndian.PutUint32(h.batch[at:], h.next)
		h.next += uint32(i&1) * 2
	}
	if _, err := h.nc.Write(h.batch); err != nil {
		return err
	}
	for left := len(h.ids) / 2; left > 0; {
		n, err := h.nc.Read(h.in[h.have:])
		if err != nil {
			return err
		}
		h.have += n
		at := 0
		for h.have-at >= frameHeaderLen {
			f := parseFrame(h.in[at:])
			if at+frameHeaderLen+f.length > h.have {
				break
			}
			at += frameHeaderLen + f.length
			switch {
			case f.kind == frameHeaders && f.flags&flagEndStream != 0:
				left--
			case f.kind == frameReset && string(h.in[at-4:at]) == "\x00\x00\x00\x00": // NO_ERROR: grpc-go's way
			case f.kind == frameGoAway || f.kind == frameReset:
				return fmt.Errorf("a frame of type %d: %q", f.kind, h.in[at-f.length:at])
			case f.kind == frameData:
				h.out += int64(f.length)
			}
		}
		h.have = copy(h.in, h.in[at:h.have])
	}
	if h.out > 1<<28 {
		_, err := h.nc.Write(appendWindow(nil, 0, uint32(h.out)))
		h.out = 0
		return err
	}
	return nil
}

// TestAllocations holds the usual call to none, answered at once or later,
// with a deadline that is different each time or without.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	k := new(Cork)
	_, addr := start(t, Options{Cork: k, Methods: map[string]Handler{
		echoPath: echo, "/test.Echo/Later": answerLater(t, nil), "/test.Echo/Together": answerLater(t, k),
	}})
	for _, c := range []struct {
		name, path string
		more       []string
	}{
		{"at once", echoPath, nil},
		{"later", "/test.Echo/Later", nil},
		{"later, together", "/test.Echo/Together", nil},
		{"with a timeout", echoPath, []string{"grpc-timeout", "99m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const calls = 100
			h := newHammer(t, addr, c.path, "a message of some bytes, as usual", calls, c.more...)
			for range 50 {
				if err := h.round(); err != nil {
					t.Fatal(err)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			const rounds = 200
			for range rounds {
				if err := h.round(); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			// The runtime itself allocates now and then.
			if n := after.Mallocs - before.Mallocs; n > rounds*calls/100 {
				t.Errorf("%d allocations in %d calls", n, rounds*calls)
			}
		})
	}
}

// answerLater answers from another goroutine without allocating, with a cork all
// that have come.
func answerLater(tb testing.TB, k *Cork) Handler {
	calls := make(chan *Call, 1024)
	go func() {
		for c := range calls {
			if k != nil {
				k.Begin()
			}
			c.Reply(append(c.Buffer(), "answered"...))
			for range len(calls) {
				c := <-calls
				c.Reply(append(c.Buffer(), "answered"...))
			}
			if k != nil {
				k.End()
			}
		}
	}()
	tb.Cleanup(func() { close(calls) })
	return HandlerFunc(func(c *Call, _ []byte) { calls <- c })
}

// BenchmarkEcho is a call with the client's share, which is small.
func BenchmarkEcho(b *testing.B) {
	const pipelined = 64
	run := func(b *testing.B, addr string, path string, more ...string) {
		h := newHammer(b, addr, path, "a message of some bytes, as usual", pipelined, more...)
		b.ReportAllocs()
		before := cpuTime()
		for b.Loop() {
			if err := h.round(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pipelined), "ns/call")
		b.ReportMetric(float64(cpuTime()-before)/float64(b.N*pipelined), "cpu-ns/call")
	}
	k := new(Cork)
	serve := func(b *testing.B, h Handler) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		s := New(Options{Cork: k, Methods: map[string]Handler{echoPath: h}})
		go func() { _ = s.Serve(l) }()
		b.Cleanup(func() { _ = s.Close() })
		return l.Addr().String()
	}
	b.Run("fastlane", func(b *testing.B) { run(b, serve(b, echo), echoPath) })
	b.Run("fastlane-later", func(b *testing.B) { run(b, serve(b, answerLater(b, nil)), echoPath) })
	b.Run("fastlane-together", func(b *testing.B) { run(b, serve(b, answerLater(b, k)), echoPath) })
	b.Run("fastlane-timeout", func(b *testing.B) { run(b, serve(b, echo), echoPath, "grpc-timeout", "99m") })
	b.Run("grpc-go", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		g := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
			var in []byte
			if err := s.RecvMsg(&in); err != nil {
				return err
			}
			out := bytes.Clone(in)
			return s.SendMsg(&out)
		}))
		go func() { _ = g.Serve(l) }()
		b.Cleanup(g.Stop)
		run(b, l.Addr().String(), echoPath)
	})
}

// cpuTime is what this process has used, in nanoseconds: steadier than time on
// a machine that does something else too.
func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
