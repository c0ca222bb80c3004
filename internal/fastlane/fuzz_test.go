package fastlane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// pipe serves one connection in memory, without a listener. ended is closed
// when its reader has ended.
func pipe(t *testing.T, o Options) (client net.Conn, cn *conn, ended <-chan struct{}) {
	t.Helper()
	o.Hooks.Panicked = func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }
	s := New(o)
	client, server := net.Pipe()
	cn = newConn(s, server)
	if !s.join(cn) {
		t.Fatal("a new server takes no connection")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cn.serve()
	}()
	return client, cn, done
}

// small are bounds that a few bytes can reach.
func small() Options {
	return Options{
		Methods: map[string]Handler{
			echoPath: echo,
			"/test.Echo/Later": HandlerFunc(func(c *Call, msg []byte) {
				kept := append(c.Buffer(), msg...)
				go c.Reply(kept)
			}),
		},
		Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = io.Copy(w, r.Body)
			w.Header().Set("Grpc-Status", "0")
		}),
		MaxMessage: 1000, MaxStreams: 4, MaxHeaderBytes: 500, MaxBuffered: 600, MaxQueued: 2000,
		MaxResets: 10, MaxControl: 50,
	}
}

// feed sends bytes after the preface and closes. The connection must end, with
// everything that it held and ran.
func feed(t *testing.T, b []byte) {
	t.Helper()
	before := runtime.NumGoroutine()
	o := small()
	client, cn, ended := pipe(t, o)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, client)
	}()
	_ = client.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := client.Write(append([]byte(preface), b...)); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Fatal("the server neither reads nor closes")
		}
	}
	cn.sound(t)
	_ = client.Close()
	for _, c := range []<-chan struct{}{ended, read} {
		select {
		case <-c:
		case <-time.After(20 * time.Second):
			t.Fatal("the connection does not end")
		}
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			all := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
	cn.sound(t)
}

// sound checks what must hold of a connection at any time.
func (cn *conn) sound(t *testing.T) {
	t.Helper()
	cn.mu.Lock()
	defer cn.mu.Unlock()
	held, open := 0, 0
	cn.streams.each(func(c *Call) {
		open++
		held += c.held
		if c.recv < 0 {
			t.Errorf("stream %d: a window of %d", c.id, c.recv)
		}
	})
	o := &cn.server.o
	switch {
	case open != cn.streams.n || open > cn.inUse && !cn.dead || cn.inUse > o.MaxStreams:
		t.Errorf("%d streams, %d counted, %d calls in use", open, cn.streams.n, cn.inUse)
	case held != cn.buffered || held > o.MaxBuffered:
		t.Errorf("%d bytes held, %d counted", held, cn.buffered)
	case cn.recv+cn.unsaid > connWindow || cn.unsaid < 0:
		t.Errorf("windows of the connection: %d, %d", cn.recv, cn.unsaid)
	case cap(cn.in) > mostRead || cap(cn.block) > 8*o.MaxHeaderBytes+4*maxFrame || cap(cn.out) > 1<<20:
		t.Errorf("buffers of %d, %d and %d bytes", cap(cn.in), cap(cn.block), cap(cn.out))
	case cn.decoder.table.used > defaultTable:
		t.Errorf("a table of %d bytes", cn.decoder.table.used)
	}
	for c := cn.blockedHead; c != nil; c = c.after {
		if !c.blocked || c.gone && !cn.dead {
			t.Errorf("stream %d waits for a window, and should not", c.id)
		}
	}
}

// seedFrames are what conformance tests send, right and wrong.
func seedFrames() [][]byte {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	head := func(fields ...string) []byte {
		block.Reset()
		for i := 0; i < len(fields); i += 2 {
			_ = enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		return bytes.Clone(block.Bytes())
	}
	var all [][]byte
	add := func(write func(fr *http2.Framer)) {
		enc = hpack.NewEncoder(&block)
		var b bytes.Buffer
		fr := http2.NewFramer(&b, nil)
		fr.AllowIllegalWrites = true
		_ = fr.WriteSettings()
		write(fr)
		all = append(all, b.Bytes())
	}
	open := func(fr *http2.Framer, id uint32, path string, end bool) {
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head(usual(path)...), EndHeaders: true, EndStream: end})
	}
	for _, path := range []string{echoPath, "/test.Echo/Later", "/other"} {
		add(func(fr *http2.Framer) {
			for id := uint32(1); id < 9; id += 2 {
				open(fr, id, path, false)
				_ = fr.WriteDataPadded(id, true, message(fmt.Sprint("hello ", id)), make([]byte, id))
			}
		})
		add(func(fr *http2.Framer) { // no window, a stream's and then the connection's
			_ = fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			open(fr, 1, path, false)
			_ = fr.WriteData(1, false, message("hello")[:3])
			_ = fr.WriteData(1, true, message("hello")[3:])
			_ = fr.WriteWindowUpdate(1, 1)
			_ = fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			_ = fr.WriteWindowUpdate(1, 1<<31-1)
			_ = fr.WriteWindowUpdate(0, 1<<31-1)
		})
		add(func(fr *http2.Framer) { // ends of streams
			open(fr, 1, path, true)
			open(fr, 1, path, true)
			open(fr, 5, path, false)
			_ = fr.WriteRSTStream(5, http2.ErrCodeCancel)
			_ = fr.WriteData(5, true, nil)
			open(fr, 3, path, false)
		})
		add(func(fr *http2.Framer) { // CONTINUATION, trailers
			b := head(usual(path)...)
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:5], PadLength: 3, Priority: http2.PriorityParam{StreamDep: 7}})
			_ = fr.WriteContinuation(1, false, b[5:9])
			_ = fr.WriteContinuation(1, true, b[9:])
			_ = fr.WriteData(1, false, message("hello"))
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head("x", "y"), EndHeaders: true, EndStream: true})
			_ = fr.WriteContinuation(1, true, nil)
		})
	}
	add(func(fr *http2.Framer) {
		_ = fr.WritePing(false, [8]byte{})
		_ = fr.WritePriority(3, http2.PriorityParam{StreamDep: 3})
		_ = fr.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20})
		_ = fr.WriteSettingsAck()
		_ = fr.WriteRawFrame(77, 255, 9, []byte("unknown"))
		_ = fr.WriteGoAway(0, http2.ErrCodeNo, nil)
		_ = fr.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
	})
	return all
}

// FuzzFrames sends any bytes in place of frames.
func FuzzFrames(f *testing.F) {
	for _, b := range seedFrames() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { feed(t, b) })
}

// FuzzSequence sends frames that are well formed, in any order and with any
// contents. A frame is made of a few bytes of the input, so that more of what it
// tries reaches the streams.
func FuzzSequence(f *testing.F) {
	for i := range byte(32) {
		f.Add([]byte{0, i, 1, i, 2, i * 7, 3, i * 11, 4, i, 5, i, 6, i, 7, i, 8, i, 9, i})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tape := tape(b[:min(len(b), 2000)])
		feed(t, append(appendFrame(nil, 0, frameSettings, 0, 0), tape.frames()...))
	})
}

// tape gives choices, zero when there are no more.
type tape []byte

func (p *tape) next() int {
	if len(*p) == 0 {
		return 0
	}
	n := (*p)[0]
	*p = (*p)[1:]
	return int(n)
}

// frames makes frames of all of the tape.
func (p *tape) frames() []byte {
	var b, block bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	fr.AllowIllegalWrites = true
	enc := hpack.NewEncoder(&block)
	paths := []string{echoPath, "/test.Echo/Later", "/other", "*"}
	next := uint32(1)
	for len(*p) > 0 {
		kind, n := p.next(), p.next()
		id := uint32(n % 16)
		text := message(string(make([]byte, n*8)))
		switch kind % 12 {
		case 0, 1: // another request
			block.Reset()
			for i, fields := 0, usual(paths[n%4]); i < len(fields); i += 2 {
				_ = enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
			}
			_ = fr.WriteHeaders(http2.HeadersFrameParam{
				StreamID: next, BlockFragment: block.Bytes(), EndStream: n&4 != 0, EndHeaders: n&24 != 24, PadLength: uint8(n >> 6),
			})
			if n&24 == 24 {
				_ = fr.WriteContinuation(next, true, nil)
			}
			next += 2
		case 2: // of the last, whole
			_ = fr.WriteData(next-2, true, text)
		case 3:
			_ = fr.WriteData(id, n&16 != 0, text[:min(len(text), 5+n/16)])
		case 4:
			_ = fr.WriteWindowUpdate(id, uint32(1)<<(n>>3))
		case 5:
			_ = fr.WriteRSTStream(id, http2.ErrCode(n))
		case 6:
			_ = fr.WriteSettings(http2.Setting{ID: http2.SettingID(n % 8), Val: uint32(1) << (n >> 3)})
		case 7:
			_ = fr.WritePing(n&1 != 0, [8]byte{byte(n)})
		case 8:
			_ = fr.WritePriority(id, http2.PriorityParam{StreamDep: uint32(n >> 4)})
		case 9: // trailers
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndStream: true, EndHeaders: true})
		case 10:
			_ = fr.WriteRawFrame(http2.FrameType(n), http2.Flags(p.next()), uint32(p.next()%8), make([]byte, p.next()%32))
		case 11:
			_ = fr.WriteDataPadded(id, n&16 != 0, binary.BigEndian.AppendUint32(nil, uint32(n)), make([]byte, n))
		}
	}
	return b.Bytes()
}
