package fastlane

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// TestProtocol breaks HTTP/2 or gRPC in one way each, or uses what is rarely
// used, and looks at what becomes of stream 1 or of the connection.
func TestProtocol(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}, MaxMessage: 1000, MaxHeaderBytes: 4000})
	const hi = `200 0 "\x00\x00\x00\x00\x02hi"`
	open := func(p *peer) { p.headers(1, false, usual(echoPath)...) }
	frame := func(kind frameType, flags uint8, id uint32, payload string) func(*peer) {
		return func(p *peer) { p.raw(append(appendFrame(nil, len(payload), kind, flags, id), payload...)) }
	}
	fields := func(f ...string) func(*peer) {
		return func(p *peer) {
			p.headers(1, false, f...)
			_ = p.fr.WriteData(1, true, message("hi"))
		}
	}
	data := func(b string) func(*peer) {
		return func(p *peer) { open(p); _ = p.fr.WriteData(1, true, []byte(b)) }
	}
	done := func(p *peer) {
		p.call(1, echoPath, "hi")
		if o := p.outcome(1); o.String() != hi {
			p.t.Fatal(o)
		}
	}
	for _, c := range []struct {
		name string
		do   func(*peer)
		want string
	}{
		{"a call", func(p *peer) { p.call(1, echoPath, "hi") }, hi},
		{"an unknown method", fields(usual("/test.Echo/None")...), `200 12 ""`},
		{"split DATA", func(p *peer) {
			open(p)
			for _, b := range message("hi") {
				p.must(p.fr.WriteData(1, false, []byte{b}))
			}
			p.must(p.fr.WriteData(1, true, nil))
		}, hi},
		{"padding", func(p *peer) {
			p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: p.block(usual(echoPath)...), EndHeaders: true, PadLength: 9,
				Priority: http2.PriorityParam{StreamDep: 3, Weight: 7},
			}))
			p.must(p.fr.WriteDataPadded(1, false, message("hi"), make([]byte, 200)))
			p.must(p.fr.WriteDataPadded(1, true, nil, make([]byte, 3)))
		}, hi},
		{"CONTINUATION", func(p *peer) {
			b := p.block(usual(echoPath)...)
			p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:3]}))
			p.must(p.fr.WriteContinuation(1, false, b[3:9]))
			p.must(p.fr.WriteContinuation(1, true, b[9:]))
			p.must(p.fr.WriteData(1, true, message("hi")))
		}, hi},
		{"trailers", func(p *peer) {
			open(p)
			p.must(p.fr.WriteData(1, false, message("hi")))
			p.headers(1, true, "x-after", "all")
		}, hi},
		{"an unknown frame", func(p *peer) { frame(77, 0xff, 5, "what")(p); p.call(1, echoPath, "hi") }, hi},
		{"PRIORITY", func(p *peer) { frame(framePriority, 0, 9, "\x00\x00\x00\x03\x07")(p); p.call(1, echoPath, "hi") }, hi},
		{"an unknown setting", func(p *peer) {
			p.must(p.fr.WriteSettings(http2.Setting{ID: 99, Val: 1}))
			p.call(1, echoPath, "hi")
		}, hi},
		{"a small table", func(p *peer) {
			done(p)
			p.must(p.fr.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}))
			p.await(http2.FrameSettings)
			p.dec.SetAllowedMaxDynamicTableSize(0)
			p.call(3, echoPath, "hi")
			f := p.await(http2.FrameHeaders).(*http2.HeadersFrame)
			if b := f.HeaderBlockFragment(); b[0] != emptyTable {
				p.t.Fatalf("the block %x does not say that the table is empty", b)
			}
			_, err := p.dec.DecodeFull(f.HeaderBlockFragment())
			p.must(err)
			if o := p.outcome(3); o.fields["grpc-status"] != "0" {
				p.t.Fatal(o)
			}
			p.call(5, echoPath, "hi")
			if o := p.outcome(5); o.String() != hi {
				p.t.Fatal(o)
			}
			frame(frameReset, 0, 99, "\x00\x00\x00\x08")(p)
		}, "goaway PROTOCOL_ERROR"},

		{"identity", fields(usual(echoPath, "grpc-encoding", "identity", "grpc-timeout", "1S")...), hi},
		{"compression", fields(usual(echoPath, "grpc-encoding", "gzip")...), `200 12 ""`},
		{"a bad timeout", fields(usual(echoPath, "grpc-timeout", "1x")...), `200 12 ""`},
		{"a compressed message", data("\x01\x00\x00\x00\x02hi"), `200 13 ""`},
		{"a message cut short", data("\x00\x00\x00\x00\x05hi"), `200 13 ""`},
		{"a prefix cut short", data("\x00\x00"), `200 13 ""`},
		{"two messages", data(string(message("a")) + string(message("b"))), `200 13 ""`},
		{"no message", data(""), `200 13 ""`},
		{"no body", func(p *peer) { p.headers(1, true, usual(echoPath)...) }, `200 13 ""`},
		{"a message too large", data("\x00\x00\x00\x03\xe9"), `200 8 ""`},
		{"the largest message", data(string(message(strings.Repeat("a", 1000)))), `200 0 "\x00\x00\x00\x03\xe8` + strings.Repeat("a", 1000) + `"`},
		{"a message refused early", func(p *peer) { open(p); p.must(p.fr.WriteData(1, false, []byte("\x00\xff\xff\xff\xff"))) }, `200 8 ""`},
		{"content-length", fields(usual(echoPath, "content-length", "7")...), hi},
		{"content-length too small", fields(usual(echoPath, "content-length", "6")...), "reset PROTOCOL_ERROR"},
		{"content-length too large", fields(usual(echoPath, "content-length", "8")...), "reset PROTOCOL_ERROR"},

		{"no path", fields(":method", "POST", ":scheme", "http"), "reset PROTOCOL_ERROR"},
		{"an empty path", fields(usual("")...), "reset PROTOCOL_ERROR"},
		{"two paths", fields(usual(echoPath, ":path", "/")...), "reset PROTOCOL_ERROR"},
		{"a pseudo-header field of answers", fields(append([]string{":status", "200"}, usual(echoPath)...)...), "reset PROTOCOL_ERROR"},
		{"a late pseudo-header field", fields("a", "b", ":method", "POST", ":scheme", "http", ":path", echoPath), "reset PROTOCOL_ERROR"},
		{"upper case", fields(usual(echoPath, "X-Upper", "1")...), "reset PROTOCOL_ERROR"},
		{"a line feed", fields(usual(echoPath, "x", "a\nb")...), "reset PROTOCOL_ERROR"},
		{"connection", fields(usual(echoPath, "connection", "close")...), "reset PROTOCOL_ERROR"},
		{"te", fields(usual(echoPath, "te", "gzip")...), "reset PROTOCOL_ERROR"},
		{"too many fields", fields(usual(echoPath, "x", strings.Repeat("a", 4000))...), `431  ""`},
		{"pseudo-header fields as trailers", func(p *peer) { open(p); p.headers(1, true, ":path", "/") }, "reset PROTOCOL_ERROR"},
		{"trailers that do not end", func(p *peer) { open(p); p.headers(1, false, "x", "y") }, "reset PROTOCOL_ERROR"},
		{"a stream of its own", func(p *peer) {
			p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: p.block(usual(echoPath)...), EndHeaders: true, Priority: http2.PriorityParam{StreamDep: 1},
			}))
		}, "reset PROTOCOL_ERROR"},

		{"an even id", frame(frameHeaders, flagEndHeaders, 2, "\x82"), "goaway PROTOCOL_ERROR"},
		{"an id passed over", func(p *peer) { p.headers(5, false, usual(echoPath)...); p.headers(3, false, usual(echoPath)...) }, "goaway PROTOCOL_ERROR"},
		{"HEADERS of stream 0", frame(frameHeaders, flagEndHeaders, 0, "\x82"), "goaway PROTOCOL_ERROR"},
		{"HEADERS of an ended stream", func(p *peer) { done(p); p.headers(1, true, usual(echoPath)...) }, "goaway STREAM_CLOSED"},
		{"DATA of an ended stream", func(p *peer) { done(p); p.must(p.fr.WriteData(1, false, []byte("x"))) }, "reset STREAM_CLOSED"},
		{"DATA after a reset", func(p *peer) {
			open(p)
			p.must(p.fr.WriteRSTStream(1, http2.ErrCodeCancel))
			p.must(p.fr.WriteData(1, true, message("hi")))
		}, "reset STREAM_CLOSED"},
		{"HEADERS after a reset", func(p *peer) {
			open(p)
			p.must(p.fr.WriteRSTStream(1, http2.ErrCodeCancel))
			p.headers(1, true, "x", "y")
		}, "goaway STREAM_CLOSED"},
		{"DATA after our reset", func(p *peer) {
			open(p)
			p.must(p.fr.WriteWindowUpdate(1, 0))
			p.must(p.fr.WriteData(1, true, message("hi"))) // was on its way
			p.headers(1, true, "x", "y")
		}, "reset PROTOCOL_ERROR"},
		{"DATA of stream 0", frame(frameData, 0, 0, ""), "goaway PROTOCOL_ERROR"},
		{"DATA of no stream", frame(frameData, 0, 1, "x"), "goaway PROTOCOL_ERROR"},
		{"all padding", func(p *peer) { open(p); frame(frameData, flagPadded, 1, "\x05abcd")(p) }, "goaway PROTOCOL_ERROR"},
		{"no padding length", func(p *peer) { open(p); frame(frameData, flagPadded, 1, "")(p) }, "goaway FRAME_SIZE_ERROR"},
		{"no priority", frame(frameHeaders, flagEndHeaders|flagPriority, 1, "abc"), "goaway FRAME_SIZE_ERROR"},
		{"a broken block", frame(frameHeaders, flagEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"), "goaway COMPRESSION_ERROR"},
		{"an index of nothing", frame(frameHeaders, flagEndHeaders, 1, "\xc0"), "goaway COMPRESSION_ERROR"},
		{"a frame too large", frame(frameData, 0, 1, strings.Repeat("x", maxFrame+1)), "goaway FRAME_SIZE_ERROR"},
		{"an interrupted block", func(p *peer) {
			p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x82")}))
			p.must(p.fr.WritePing(false, [8]byte{}))
		}, "goaway PROTOCOL_ERROR"},
		{"CONTINUATION of nothing", frame(frameContinuation, flagEndHeaders, 1, ""), "goaway PROTOCOL_ERROR"},
		{"CONTINUATION of another", func(p *peer) {
			p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x82")}))
			p.must(p.fr.WriteContinuation(3, true, nil))
		}, "goaway PROTOCOL_ERROR"},
		{"PUSH_PROMISE", frame(framePush, flagEndHeaders, 1, "\x00\x00\x00\x02\x82"), "goaway PROTOCOL_ERROR"},
		{"PING of a stream", frame(framePing, 0, 1, "12345678"), "goaway PROTOCOL_ERROR"},
		{"a short PING", frame(framePing, 0, 0, "1234"), "goaway FRAME_SIZE_ERROR"},
		{"RST_STREAM of no stream", frame(frameReset, 0, 1, "\x00\x00\x00\x08"), "goaway PROTOCOL_ERROR"},
		{"a short RST_STREAM", func(p *peer) { open(p); frame(frameReset, 0, 1, "\x00")(p) }, "goaway FRAME_SIZE_ERROR"},
		{"SETTINGS of a stream", frame(frameSettings, 0, 1, ""), "goaway PROTOCOL_ERROR"},
		{"SETTINGS of a bad size", frame(frameSettings, 0, 0, "123"), "goaway FRAME_SIZE_ERROR"},
		{"SETTINGS acknowledged with values", frame(frameSettings, flagAck, 0, "123456"), "goaway FRAME_SIZE_ERROR"},
		{"ENABLE_PUSH 2", frame(frameSettings, 0, 0, "\x00\x02\x00\x00\x00\x02"), "goaway PROTOCOL_ERROR"},
		{"a window too large", frame(frameSettings, 0, 0, "\x00\x04\x80\x00\x00\x00"), "goaway FLOW_CONTROL_ERROR"},
		{"MAX_FRAME_SIZE too small", frame(frameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01"), "goaway PROTOCOL_ERROR"},
		{"a window update by nothing", frame(frameWindow, 0, 0, "\x00\x00\x00\x00"), "goaway PROTOCOL_ERROR"},
		{"a window update by nothing of a stream", func(p *peer) { open(p); frame(frameWindow, 0, 1, "\x00\x00\x00\x00")(p) }, "reset PROTOCOL_ERROR"},
		{"a window update of a bad size", frame(frameWindow, 0, 0, "\x00\x00\x01"), "goaway FRAME_SIZE_ERROR"},
		{"a window update of no stream", frame(frameWindow, 0, 1, "\x00\x00\x00\x01"), "goaway PROTOCOL_ERROR"},
		{"the window overflows", frame(frameWindow, 0, 0, "\x7f\xff\xff\xff"), "goaway FLOW_CONTROL_ERROR"},
		{"the window of a stream overflows", func(p *peer) { open(p); frame(frameWindow, 0, 1, "\x7f\xff\xff\xff")(p) }, "reset FLOW_CONTROL_ERROR"},
		{"GOAWAY of a stream", frame(frameGoAway, 0, 1, "12345678"), "goaway PROTOCOL_ERROR"},
		{"an unknown flag", func(p *peer) {
			p.must(p.fr.WriteRawFrame(http2.FrameHeaders, 0x80|http2.FlagHeadersEndHeaders, 1, p.block(usual(echoPath)...)))
			p.must(p.fr.WriteData(1, true, message("x")))
		}, `200 0 "\x00\x00\x00\x00\x01x"`},
		{"a short PRIORITY", func(p *peer) { open(p); frame(framePriority, 0, 1, "\x00")(p) }, "reset FRAME_SIZE_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPeer(t, addr)
			c.do(p)
			if o := p.outcome(1); o.String() != c.want {
				t.Errorf("%s, not %s", o, c.want)
			} else if o.what == "goaway" {
				p.closed()
			}
		})
	}
}

// TestPing looks at the answer to a PING, and that frames are handled in order.
func TestPing(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	p := newPeer(t, addr)
	p.must(p.fr.WritePing(false, [8]byte{1, 2, 3}))
	if f := p.await(http2.FramePing).(*http2.PingFrame); !f.IsAck() || f.Data != [8]byte{1, 2, 3} {
		t.Errorf("answered by %v", f)
	}
}

// TestBeginnings begins a connection wrongly.
func TestBeginnings(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	for _, c := range []struct{ name, send, want string }{
		{"HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "goaway PROTOCOL_ERROR"},
		{"no SETTINGS", preface + string(appendFrame(nil, 0, frameData, 0, 1)), "goaway PROTOCOL_ERROR"},
		{"SETTINGS acknowledged first", preface + string(appendFrame(nil, 0, frameSettings, flagAck, 0)), "goaway PROTOCOL_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := rawPeer(t, addr)
			p.raw([]byte(c.send))
			if o := p.outcome(0); o.String() != c.want {
				t.Errorf("%s, not %s", o, c.want)
			}
			p.closed()
		})
	}
}

// TestSettings looks at what the server says of itself.
func TestSettings(t *testing.T) {
	_, addr := start(t, Options{MaxStreams: 17, MaxHeaderBytes: 999, MaxMessage: 1 << 20})
	p := rawPeer(t, addr)
	p.raw(appendFrame([]byte(preface), 0, frameSettings, 0, 0))
	f := p.next().(*http2.SettingsFrame)
	for id, want := range map[http2.SettingID]uint32{
		http2.SettingMaxConcurrentStreams: 17, http2.SettingMaxHeaderListSize: 999,
		http2.SettingInitialWindowSize: 1<<20 + grpcPrefixLen + maxFrame,
	} {
		if v, ok := f.Value(id); !ok || v != want {
			t.Errorf("%v is %d, not %d", id, v, want)
		}
	}
	w := p.await(http2.FrameWindowUpdate).(*http2.WindowUpdateFrame)
	if w.StreamID != 0 || w.Increment != connWindow-defaultWindow {
		t.Errorf("the window grows by %d", w.Increment)
	}
}
