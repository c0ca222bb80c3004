package fastlane

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// script makes what an abuser sends: once at first, and more again and again
// until the connection is no more.
type script struct {
	once, more []byte
	reads      bool
}

// write makes the bytes of frames.
func write(f func(fr *http2.Framer)) []byte {
	var b bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	fr.AllowIllegalWrites = true
	f(fr)
	return b.Bytes()
}

// greeting is how a client begins.
func greeting(settings ...http2.Setting) []byte {
	return append([]byte(preface), write(func(fr *http2.Framer) { _ = fr.WriteSettings(settings...) })...)
}

// plainBlock encodes fields without the table, so that it can be sent often.
func plainBlock(fields ...string) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = appendField(b, fields[i], fields[i+1])
	}
	return b
}

// requests are many calls of a method, with ids from first on.
func requests(n int, path string, then func(fr *http2.Framer, id uint32)) []byte {
	block := plainBlock(usual(path)...)
	return write(func(fr *http2.Framer) {
		for id := uint32(1); id < uint32(2*n); id += 2 {
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true})
			then(fr, id)
		}
	})
}

// bombs are one large field put into the table, and then thousands of references
// to it in blocks that are small themselves.
func bombs() []byte {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	_ = enc.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("x", 4000)})
	return write(func(fr *http2.Framer) {
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		for id := uint32(3); id < 200; id += 2 {
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: bytes.Repeat([]byte{newestIndexed}, 16000), EndHeaders: true, EndStream: true})
		}
	})
}

// TestAbuse has eight connections at a time do what costs the server most, while
// a client makes calls: those all succeed, every abuser is thrown out for the
// right reason, and what they took is given back.
func TestAbuse(t *testing.T) {
	wide := []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: maxWindow}}
	whole := func(fr *http2.Framer, id uint32) { _ = fr.WriteData(id, true, message("hi")) }
	wider := appendWindow(nil, 0, maxWindow-defaultWindow)
	for _, c := range []struct {
		name   string
		script script
		want   []Reason // any of them
	}{
		{"rapid reset", script{once: append(greeting(), requests(20_000, echoPath, func(fr *http2.Framer, id uint32) {
			_ = fr.WriteRSTStream(id, http2.ErrCodeCancel)
		})...), reads: true}, []Reason{ResetFlood, FrameFlood}},
		{"rapid reset of the fallback", script{once: append(greeting(), requests(20_000, "/other", func(fr *http2.Framer, id uint32) {
			_ = fr.WriteRSTStream(id, http2.ErrCodeCancel)
		})...), reads: true}, []Reason{ResetFlood, FrameFlood}},
		{"CONTINUATION", script{
			once:  append(greeting(), appendFrame(nil, 0, frameHeaders, 0, 1)...),
			more:  bytes.Repeat(appendFrame(nil, 0, frameContinuation, 0, 1), 1000),
			reads: true,
		}, []Reason{FrameFlood}},
		{"SETTINGS, not reading", script{once: greeting(), more: bytes.Repeat(appendFrame(nil, 0, frameSettings, 0, 0), 1000)}, []Reason{FrameFlood}},
		{"PING, not reading", script{once: greeting(), more: bytes.Repeat(append(appendFrame(nil, 8, framePing, 0, 0), "pingpong"...), 1000)}, []Reason{FrameFlood}},
		{"empty DATA", script{
			once: append(greeting(), requests(1, echoPath, func(*http2.Framer, uint32) {})...),
			more: bytes.Repeat(appendFrame(nil, 0, frameData, 0, 1), 1000), reads: true,
		}, []Reason{FrameFlood}},
		{"DATA of streams long gone", script{
			once: append(greeting(), requests(1000, echoPath, whole)...),
			more: bytes.Repeat(append(appendFrame(nil, 1, frameData, 0, 1), 'x'), 1000), reads: true,
		}, []Reason{FrameFlood}},
		{"header bomb", script{once: append(greeting(), bombs()...), reads: true}, []Reason{FrameFlood}},
		{"windows of one byte", script{
			once: append(greeting(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}), requests(100, "/test/Large", whole)...),
			more: bytes.Repeat(appendWindow(nil, 1, 1), 1000), reads: true,
		}, []Reason{FrameFlood}},
		{"not reading answers", script{
			once: slices.Concat(greeting(wide...), wider, requests(1000, "/test/Large", whole)),
		}, []Reason{SlowReader}},
		{"not reading a stream", script{
			once: slices.Concat(greeting(wide...), wider, requests(25, "/endless", whole)),
		}, []Reason{SlowReader}},
		{"no preface", script{reads: true}, []Reason{Handshake}},
		{"half a preface", script{once: []byte(preface[:11]), reads: true}, []Reason{Handshake}},
		{"half a SETTINGS", script{once: greeting()[:30], reads: true}, []Reason{Handshake}},
		{"idle", script{once: greeting(), reads: true}, []Reason{Idle}},
	} {
		t.Run(c.name, func(t *testing.T) { abuse(t, c.script, c.want) })
	}
}

// Of an abuse: how many at a time, how often, and what they may cost.
const (
	abusers    = 8
	abuseTimes = 2
	mostHeap   = 96 << 20 // the scripts and what is in flight; eight queues are 16 MiB
)

func abuse(t *testing.T, s script, want []Reason) {
	before := runtime.NumGoroutine()
	heap := heapBytes()
	var closed [reasons]atomic.Int64
	large := bytes.Repeat([]byte("x"), 30_000)
	o := Options{
		Methods: map[string]Handler{
			echoPath:      echo,
			"/test/Large": HandlerFunc(func(c *Call, _ []byte) { c.Reply(large) }),
		},
		Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for r.URL.Path == "/endless" && r.Context().Err() == nil {
				_, _ = w.Write(large)
			}
		}),
		Hooks: Hooks{Closed: func(r Reason) { closed[r].Add(1) }},
	}
	switch want[0] { // what is tried is short, and the rest as it is by default: the machine may be slow
	case Handshake:
		o.HandshakeTimeout = 200 * time.Millisecond
	case Idle:
		o.IdleTimeout = 200 * time.Millisecond
	case SlowReader:
		o.WriteTimeout = 200 * time.Millisecond
	}
	server, addr := start(t, o)
	over := make(chan struct{})
	var good sync.WaitGroup
	calls, most := 0, uint64(0)
	good.Go(func() {
		cc := dial(t, addr)
		defer func() { _ = cc.Close() }()
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			out, err := call(ctx, cc, echoPath, []byte("hi"))
			cancel()
			if err != nil || string(out) != "hi" {
				t.Errorf("call %d of a client that does nothing wrong: %q, %v", calls, out, err)
				return
			}
			calls++
			most = max(most, heapBytes())
			select {
			case <-over:
				return
			default:
			}
		}
	})
	var bad sync.WaitGroup
	for range abusers {
		bad.Go(func() {
			for range abuseTimes {
				s.play(t, addr)
			}
		})
	}
	bad.Wait()
	close(over)
	good.Wait()
	awaitTrue(t, "the connections to be gone", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return len(server.mu.conns) == 0
	})
	n := int64(0)
	for _, r := range want {
		n += closed[r].Load()
	}
	if n != abusers*abuseTimes {
		for r := range closed {
			t.Logf("closed for %s: %d", Reason(r), closed[r].Load())
		}
		t.Errorf("%d connections were closed for %v, not %d", n, want, abusers*abuseTimes)
	}
	if most > heap+mostHeap {
		t.Errorf("the heap grew by %d MiB", (most-heap)>>20)
	}
	_ = server.Close()
	awaitTrue(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	t.Logf("%d good calls, the heap grew by %d KiB", calls, (int64(most)-int64(heap))>>10)
}

// play plays the script on a connection of its own until the server ends it.
func (s script) play(t *testing.T, addr string) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	read := make(chan struct{})
	go func() {
		defer close(read)
		if s.reads {
			_, _ = io.Copy(io.Discard, nc)
		}
	}()
	_, err = nc.Write(s.once)
	for err == nil && len(s.more) > 0 {
		_, err = nc.Write(s.more)
	}
	for err == nil && !s.reads { // a frame of no meaning now and then, to see when it ends
		time.Sleep(10 * time.Millisecond)
		_, err = nc.Write(appendFrame(nil, 0, frameType(99), 0, 0))
	}
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("the server keeps an abuser")
	}
	if s.reads {
		<-read
	}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func awaitTrue(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			all := make([]byte, 1<<16)
			t.Fatalf("waited too long for %s\n%s", what, all[:runtime.Stack(all, true)])
		}
	}
}
