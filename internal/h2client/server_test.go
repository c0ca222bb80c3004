package h2client

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// server is an HTTP/2 server for tests that answers by hand, without a library:
// what it is to do wrong is easily said.
type server struct {
	addr     string
	settings []byte
	// answer appends the frames that answer a call; nil is to say yes.
	answer func(dst []byte, stream uint32, message []byte) []byte
	// begun is called after the settings of a connection are written.
	begun func(c net.Conn)
	// peek sees every frame.
	peek func(f *frame)
	// grow: give the client's window back, at once; miserly: when it is used up.
	grow, miserly bool
	// alone: one stream at a time was allowed.
	alone bool
	// reads: decode request headers, with the table that the settings leave.
	reads  bool
	wrongs atomic.Int64 // what the client did against that
}

func (s *server) start(t testing.TB) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			running.Go(func() {
				s.serve(c)
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return s
}

func (s *server) serve(c net.Conn) {
	hello := make([]byte, len(preface))
	if _, err := io.ReadFull(c, hello); err != nil || string(hello) != preface {
		return
	}
	out := append(appendHeader(nil, len(s.settings), kindSettings, 0, 0), s.settings...)
	if _, err := c.Write(out); err != nil {
		return
	}
	if s.begun != nil {
		s.begun(c)
	}
	buf, have := make([]byte, 64<<10), 0
	data := 0 // of the window that was not given back
	dec := hpack.NewDecoder(tableSize, nil)
	if len(s.settings) > 0 && s.settings[1] == settingTableSize {
		dec.SetAllowedMaxDynamicTableSize(binary.BigEndian.Uint32(s.settings[2:]))
		dec.SetMaxDynamicTableSize(binary.BigEndian.Uint32(s.settings[2:]))
	}
	for {
		n, err := c.Read(buf[have:])
		if err != nil {
			return
		}
		have += n
		out = out[:0]
		at := 0
		for {
			f, n, err := cut(buf[at:have])
			if err != nil {
				return
			}
			if n == 0 {
				break
			}
			at += n
			if s.peek != nil {
				s.peek(&f)
			}
			if f.kind == kindHeaders && s.alone && len(out) > 0 {
				s.wrongs.Add(1) // the one before it cannot have been answered
			}
			if f.kind == kindHeaders && s.reads {
				if fields, err := dec.DecodeFull(f.payload); err != nil || len(fields) != 7 || fields[2].Value != "/test.Echo/Say" {
					s.wrongs.Add(1)
				}
			}
			if f.kind == kindData {
				data += len(f.payload)
				out = s.reply(out, &f)
			}
		}
		if data > 65535 {
			s.wrongs.Add(1)
		}
		if s.grow && data > 0 || s.miserly && data+13 > 65535 {
			out = appendNumber(out, kindWindow, 0, uint32(data))
			data = 0
		}
		have = copy(buf, buf[at:have])
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func (s *server) reply(out []byte, f *frame) []byte {
	if s.answer != nil {
		return s.answer(out, f.stream, f.payload[5:])
	}
	return yes(out, f.stream, f.payload[5:])
}

// The blocks are written out: 0x88 is ":status: 200", 0x0f 0x10 a content-type
// that is not to be kept, 0x00 a field with its name.
var (
	headBlock = append([]byte{0x88, 0x0f, 0x10, 16}, "application/grpc"...)
	tailBlock = append(append([]byte{0x00, 11}, "grpc-status"...), 1, '0')
)

// yes answers with the message as it came.
func yes(out []byte, stream uint32, message []byte) []byte {
	out = append(appendHeader(out, len(headBlock), kindHeaders, flagEndHeaders, stream), headBlock...)
	out = appendHeader(out, 5+len(message), kindData, 0, stream)
	out = append(out, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(len(message)))
	out = append(out, message...)
	return append(appendHeader(out, len(tailBlock), kindHeaders, flagEndHeaders|flagEndStream, stream), tailBlock...)
}
