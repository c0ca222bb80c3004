package fastlane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is a client that can do everything wrong. It knows frames, through
// x/net's Framer, and nothing of connections.
type peer struct {
	t   testing.TB
	nc  net.Conn
	fr  *http2.Framer
	enc *hpack.Encoder
	buf bytes.Buffer
	dec *hpack.Decoder
}

// newPeer connects, and exchanges settings.
func newPeer(t testing.TB, addr string, settings ...http2.Setting) *peer {
	t.Helper()
	return rawPeer(t, addr).meet(settings...)
}

// rawPeer connects.
func rawPeer(t testing.TB, addr string) *peer {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, nc)
}

// over is a peer on a connection.
func over(t testing.TB, nc net.Conn) *peer {
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	p := &peer{t: t, nc: nc, fr: http2.NewFramer(nc, nc), dec: hpack.NewDecoder(4096, nil)}
	p.fr.AllowIllegalWrites, p.fr.AllowIllegalReads = true, true
	p.enc = hpack.NewEncoder(&p.buf)
	return p
}

func (p *peer) meet(settings ...http2.Setting) *peer {
	t := p.t
	t.Helper()
	p.raw([]byte(preface))
	p.must(p.fr.WriteSettings(settings...))
	if f, ok := p.next().(*http2.SettingsFrame); !ok || f.IsAck() {
		t.Fatalf("the first frame is %v", f)
	}
	p.must(p.fr.WriteSettingsAck())
	p.await(http2.FrameSettings)
	return p
}

func (p *peer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) raw(b []byte) {
	p.t.Helper()
	_, err := p.nc.Write(b)
	p.must(err)
}

func (p *peer) next() http2.Frame {
	p.t.Helper()
	f, err := p.fr.ReadFrame()
	p.must(err)
	return f
}

// await skips frames until one of a type.
func (p *peer) await(want http2.FrameType) http2.Frame {
	p.t.Helper()
	for {
		if f := p.next(); f.Header().Type == want {
			return f
		}
	}
}

// block encodes fields, given as name and value in turn.
func (p *peer) block(fields ...string) []byte {
	p.buf.Reset()
	for i := 0; i < len(fields); i += 2 {
		p.must(p.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	return append([]byte(nil), p.buf.Bytes()...)
}

// usual are the fields of a call.
func usual(path string, more ...string) []string {
	return append([]string{
		":method", "POST", ":scheme", "http", ":path", path, ":authority", "test",
		"content-type", "application/grpc", "te", "trailers", "user-agent", "peer",
	}, more...)
}

func (p *peer) headers(id uint32, end bool, fields ...string) {
	p.t.Helper()
	p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: p.block(fields...), EndStream: end, EndHeaders: true,
	}))
}

// message is msg with gRPC's prefix.
func message(msg string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...)
}

// call makes a call.
func (p *peer) call(id uint32, path, msg string, more ...string) {
	p.t.Helper()
	p.headers(id, false, usual(path, more...)...)
	p.must(p.fr.WriteData(id, true, message(msg)))
}

// outcome is what became of a stream, or of the connection.
type outcome struct {
	fields map[string]string
	body   string
	reset  http2.ErrCode
	goAway http2.ErrCode
	what   string // answered, reset, goaway, closed
}

func (o outcome) String() string {
	switch o.what {
	case "answered":
		return fmt.Sprintf("%s %s %q", o.fields[":status"], o.fields["grpc-status"], o.body)
	case "reset":
		return "reset " + o.reset.String()
	case "goaway":
		return "goaway " + o.goAway.String()
	}
	return o.what
}

// outcome reads until it is known what became of a stream.
func (p *peer) outcome(id uint32) outcome {
	p.t.Helper()
	o := outcome{fields: make(map[string]string)}
	for {
		f, err := p.fr.ReadFrame()
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				p.t.Fatal("no answer in time")
			}
			o.what = "closed"
			return o
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			all, err := p.dec.DecodeFull(f.HeaderBlockFragment())
			p.must(err)
			if f.StreamID != id {
				continue
			}
			for _, h := range all {
				o.fields[h.Name] = h.Value
			}
			if f.StreamEnded() {
				o.what = "answered"
				return o
			}
		case *http2.DataFrame:
			if f.StreamID != id {
				continue
			}
			o.body += string(f.Data())
			if f.StreamEnded() {
				o.what = "answered"
				return o
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == id {
				o.what, o.reset = "reset", f.ErrCode
				return o
			}
		case *http2.GoAwayFrame:
			if f.ErrCode != http2.ErrCodeNo {
				o.what, o.goAway = "goaway", f.ErrCode
				return o
			}
		}
	}
}

// closed waits for the end of the connection.
func (p *peer) closed() {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p.nc); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			p.t.Fatal("the connection was not closed")
		}
	}
}
