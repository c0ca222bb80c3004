package fastlane

import (
	"testing"

	"golang.org/x/net/http2"
)

// TestMemoForgets sends one header block again and again: it means what the
// table says at that time, not what it meant before.
func TestMemoForgets(t *testing.T) {
	const (
		answered = `200 0 "\x00\x00\x00\x00\x01m"`
		// Each field goes into the table: 65 is the path, 62 the newest.
		first = "\x83\x86\x44\x0f/test.Echo/Echo\x41\x04test\x5f\x10application/grpc\x40\x02te\x08trailers"
		again = "\x83\x86\xc1\xc0\xbf\xbe" // the same, by index
	)
	for _, c := range []struct {
		name, between string // a block of a call in between
		want          string // what becomes of again after it
	}{
		{"nothing happens", again, answered},
		{"a field that is not kept", again + "\x00\x01a\x01b", answered},
		{"a field that is kept", again + "\x40\x01a\x01b", "reset PROTOCOL_ERROR"}, // te is the content type now
		{"another path is kept", again[:2] + "\x44\x0e/test.Echo/Not\xc1\xc0\xbf", "reset PROTOCOL_ERROR"},
		{"the table is emptied", "\x20\x3f\xe1\x1f" + "\x83\x86\x04\x0f/test.Echo/Echo\x01\x04test\x0f\x10\x10application/grpc", "goaway COMPRESSION_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
			p := newPeer(t, addr)
			id := uint32(1)
			send := func(block string) outcome {
				p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(block), EndHeaders: true}))
				p.must(p.fr.WriteData(id, true, message("m")))
				id += 2
				return p.outcome(id - 2)
			}
			for _, block := range []string{first, again, again} {
				if o := send(block); o.String() != answered {
					t.Fatalf("%x: %v", block, o)
				}
			}
			send(c.between)
			if o := send(again); o.String() != c.want {
				t.Errorf("%v, not %s", o, c.want)
			}
		})
	}
}

// TestMemoElsewhere sends a block that is known where it is not that of a usual
// call.
func TestMemoElsewhere(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	const known = "\x83\x86\x04\x0f/test.Echo/Echo\x01\x04test\x0f\x10\x10application/grpc\x0f\x0d\x016" // content-length 6
	const ends = http2.FlagHeadersEndStream | http2.FlagHeadersEndHeaders
	for _, c := range []struct {
		name  string
		flags http2.Flags
		block string
		body  string
		want  string
	}{
		{"as usual", http2.FlagHeadersEndHeaders, known, "m", `200 0 "\x00\x00\x00\x00\x01m"`},
		{"another length", http2.FlagHeadersEndHeaders, known, "mm", "reset PROTOCOL_ERROR"},
		{"no message", ends, known, "", "reset PROTOCOL_ERROR"}, // whose length was said
		{"of a stream that depends on itself", ends | http2.FlagHeadersPriority, "\x00\x00\x00\x05\x00" + known, "", "reset PROTOCOL_ERROR"},
		{"cut short", http2.FlagHeadersEndHeaders, known[:len(known)-1], "", "goaway COMPRESSION_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPeer(t, addr)
			for id := uint32(1); id <= 5; id += 2 {
				flags, block, body := http2.FlagHeadersEndHeaders, known, "m"
				if id == 5 {
					flags, block, body = c.flags, c.block, c.body
				}
				p.must(p.fr.WriteRawFrame(http2.FrameHeaders, flags, id, []byte(block)))
				if body != "" {
					p.must(p.fr.WriteData(id, true, message(body)))
				}
				if o := p.outcome(id); id < 5 && o.what != "answered" || id == 5 && o.String() != c.want {
					t.Fatalf("stream %d: %v", id, o)
				}
			}
		})
	}
	p := newPeer(t, addr)
	for id := uint32(1); id <= 5; id += 2 {
		p.must(p.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, id, []byte(known)))
		if id < 5 {
			p.must(p.fr.WriteData(id, true, message("m")))
			p.outcome(id)
		}
	}
	p.must(p.fr.WriteRawFrame(http2.FrameHeaders, ends, 5, []byte(known)))
	if o := p.outcome(5); o.String() != "reset PROTOCOL_ERROR" {
		t.Errorf("as a trailer: %v", o)
	}
}
