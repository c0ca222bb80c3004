package fastlane

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// FuzzCuts makes the same calls in frames cut in any way: padded, in many DATA,
// in CONTINUATION, mixed with each other and with frames that carry no request,
// written a few bytes at a time, with windows of any size. The answers are
// always the same.
func FuzzCuts(f *testing.F) {
	for i := range byte(24) {
		f.Add([]byte{i, i * 3, i * 5, i * 7, i * 11, i * 13, i * 17, i * 19, 1, 2, 3, 4, 5, 6, 7, 8, 9, i})
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		tape := tape(b)
		o := small()
		o.MaxStreams, o.MaxBuffered, o.MaxControl, o.MaxHeaderBytes = 100, 1<<20, 1<<30, 4000
		o.MaxQueued = 1 + tape.next()*20
		o.Fallback = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "12")
		})
		client, _, ended := pipe(t, o)
		_ = client.SetDeadline(time.Now().Add(20 * time.Second))
		c := &cutter{tape: tape, calls: make(map[uint32]*cutCall), enc: new(hpack.Encoder)}
		c.enc = hpack.NewEncoder(&c.block)
		bytes := c.requests(1 + tape.next()%6)
		toWrite := make(chan []byte, 1<<14)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			for b := range toWrite {
				if _, err := client.Write(b); err != nil {
					return
				}
			}
		}()
		for at := 0; at < len(bytes); {
			n := min(len(bytes)-at, 1+c.tape.next()*c.tape.next()/8)
			if len(c.tape) == 0 {
				n = len(bytes) - at
			}
			toWrite <- bytes[at : at+n]
			at += n
		}
		c.answers(t, http2.NewFramer(nil, client), toWrite)
		go func() { _, _ = io.Copy(io.Discard, client) }() // what else it says, until it is closed
		close(toWrite)
		<-wrote
		_ = client.Close()
		<-ended
		for id, call := range c.calls {
			if call.got.String() != call.want || call.body.String() != call.wantBody {
				t.Errorf("stream %d: %s %q, want %s %q", id, &call.got, &call.body, call.want, call.wantBody)
			}
		}
	})
}

// cutter cuts calls into frames.
type cutter struct {
	tape  tape
	block bytes.Buffer
	enc   *hpack.Encoder
	calls map[uint32]*cutCall
}

// cutCall is a call, and what comes of it.
type cutCall struct {
	want, wantBody string
	got            bytes.Buffer // fields, in their order
	body           bytes.Buffer
}

// requests makes n calls, their frames mixed in an order that keeps that of each
// call and of header blocks.
func (c *cutter) requests(n int) []byte {
	var out bytes.Buffer
	out.WriteString(preface)
	fr := http2.NewFramer(&out, nil)
	window := uint32(1 + c.tape.next()*c.tape.next())
	_ = fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window},
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(c.tape.next() * 32)})
	var data [][][]byte // the DATA of each call
	for i := range n {
		id := uint32(1 + 2*i)
		text := bytes.Repeat([]byte{byte('a' + i)}, c.tape.next())
		call := &cutCall{want: "200 application/grpc 0 ", wantBody: string(message(string(text)))}
		path := []string{echoPath, "/test.Echo/Later", "/test.Echo/Unknown"}[c.tape.next()%3]
		if path == "/test.Echo/Unknown" {
			call.want, call.wantBody = "200 12 ", ""
		}
		c.calls[id] = call
		data = append(data, c.data(id, message(string(text))))
		c.headers(&out, id, path)
		c.noise(fr, id)
		for range c.tape.next() % 4 {
			c.some(&out, data)
		}
	}
	for c.some(&out, data) {
		c.noise(fr, 1)
	}
	return out.Bytes()
}

// headers writes the header block of a call.
func (c *cutter) headers(out *bytes.Buffer, id uint32, path string) {
	c.block.Reset()
	for i, fields := 0, usual(path, "x-more", fmt.Sprint("value ", c.tape.next())); i < len(fields); i += 2 {
		_ = c.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: c.tape.next()%4 == 3})
	}
	b := c.block.Bytes()
	fr := http2.NewFramer(out, nil)
	first := http2.HeadersFrameParam{StreamID: id, PadLength: uint8(c.tape.next())}
	if c.tape.next()%2 == 1 {
		first.Priority = http2.PriorityParam{StreamDep: id + 2, Weight: 3}
	}
	n := len(b) - min(len(b), c.tape.next())
	first.BlockFragment, first.EndHeaders = b[:n], n == len(b)
	_ = fr.WriteHeaders(first)
	for i := 0; n < len(b); i++ {
		b, n = b[n:], c.tape.next()
		if i == mostContinuations-2 || n > len(b) {
			n = len(b)
		}
		_ = fr.WriteContinuation(id, n == len(b), b[:n])
	}
}

// data makes the DATA of a call.
func (c *cutter) data(id uint32, b []byte) [][]byte {
	var all [][]byte
	for last := false; !last; {
		var out bytes.Buffer
		fr := http2.NewFramer(&out, nil)
		n := len(b) - min(len(b), c.tape.next())
		end := n == len(b) && c.tape.next()%3 != 2
		if last = end; len(all) == 20 {
			n, last, end = len(b), true, true
		}
		if pad := c.tape.next(); pad%2 == 1 {
			_ = fr.WriteDataPadded(id, end, b[:n], make([]byte, pad))
		} else {
			_ = fr.WriteData(id, end, b[:n])
		}
		b = b[n:]
		all = append(all, out.Bytes())
	}
	return all
}

// some writes a frame of DATA, if any is left.
func (c *cutter) some(out *bytes.Buffer, data [][][]byte) bool {
	from := c.tape.next()
	for i := range data {
		if left := &data[(from+i)%len(data)]; len(*left) > 0 {
			out.Write((*left)[0])
			*left = (*left)[1:]
			return true
		}
	}
	return false
}

// noise writes a frame that changes nothing.
func (c *cutter) noise(fr *http2.Framer, id uint32) {
	switch c.tape.next() % 8 {
	case 1:
		_ = fr.WritePing(false, [8]byte{1, 2, 3})
	case 2:
		_ = fr.WriteWindowUpdate(0, uint32(1+c.tape.next()))
	case 3:
		_ = fr.WritePriority(id, http2.PriorityParam{StreamDep: id + 4})
	case 4:
		_ = fr.WriteRawFrame(99, 0xff, id, []byte("unknown"))
	case 5:
		_ = fr.WriteSettings()
	case 6:
		_ = fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(c.tape.next() * 9)})
	}
}

// answers reads until every call is answered, and gives windows for what comes.
func (c *cutter) answers(t *testing.T, fr *http2.Framer, toWrite chan<- []byte) {
	fr.ReadMetaHeaders = hpack.NewDecoder(defaultTable, nil)
	for left := len(c.calls); left > 0; {
		f, err := fr.ReadFrame()
		if err != nil {
			t.Errorf("%d calls are not answered: %v", left, err)
			return
		}
		call := c.calls[f.Header().StreamID]
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			for _, h := range f.Fields {
				call.got.WriteString(h.Value + " ")
			}
			if f.StreamEnded() {
				left--
			} else { // room for the message, a little at a time
				for range 6 {
					toWrite <- appendWindow(nil, f.StreamID, 60)
				}
			}
		case *http2.DataFrame:
			call.body.Write(f.Data())
			if f.StreamEnded() {
				left--
			}
		case *http2.GoAwayFrame:
			t.Errorf("%v: %s", f, f.DebugData())
			return
		case *http2.RSTStreamFrame:
			if f.ErrCode != http2.ErrCodeNo { // of what is left of a request
				t.Errorf("%v", f)
				return
			}
		}
	}
}
