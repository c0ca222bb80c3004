package h2client

import (
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
)

// FuzzFeed: whatever a server sends, in whatever pieces, nothing panics, every
// call is told of exactly once, and what is to be sent stays in proportion.
func FuzzFeed(f *testing.F) {
	hello := appendHeader(nil, 0, kindSettings, 0, 0)
	good := yes(yes(hello, 1, []byte("12345678")), 3, []byte("12345678"))
	f.Add(good, 20)
	f.Add(inPieces(hello, 1, []byte("12345678")), 7)
	f.Add(appendNumber(hello, kindReset, 3, 7), 1)
	f.Add(append(appendHeader(hello, 8, kindGoAway, 0, 0), 0, 0, 0, 1, 0, 0, 0, 0), 9)
	f.Add(appendNumber(hello, kindWindow, 0, 1<<31-1), 9)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		l := newLoad("x:1", 1, 1<<40)
		o := l.o
		told := map[int64]int{}
		c := newConn(&o, requestFields(&o), func(call Call, _ Answer) { told[call.N]++ })
		sent := int64(0)
		feed := func(b []byte) (int, bool) {
			n, err := c.feed(b)
			if err != nil {
				return 0, false
			}
			for c.under < 4 && sent < 100 {
				ok, _ := c.send(Call{N: sent}, time.Duration(sent))
				if !ok {
					break
				}
				sent++
			}
			return n, true
		}
		_, _ = feed(hello)
		at = max(0, min(at, len(b)))
		if n, ok := feed(b[:at]); ok {
			_, _ = feed(b[n:])
		}
		c.expire(1)
		c.fail(0, Answer{Failure: Broken})
		if c.under != 0 || int64(len(told)) != sent {
			t.Fatalf("%d under way, %d of %d told", c.under, len(told), sent)
		}
		for n, times := range told {
			if times != 1 {
				t.Fatalf("call %d was told of %d times", n, times)
			}
		}
		if most := 200*110 + 20*len(b) + 200; len(c.out) > most {
			t.Fatalf("%d bytes to send for %d that came", len(c.out), len(b))
		}
	})
}

// FuzzHeaders: looking blocks up says the same as decoding each.
func FuzzHeaders(f *testing.F) {
	f.Add(headBlock, tailBlock)
	f.Add([]byte{0x88, 0x40, 1, 'a', 1, 'b'}, []byte{0xbe})
	f.Add([]byte{0x3f, 0xe1, 0x1f}, []byte{0x88})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		quick, slow := newReader(), newReader()
		for _, block := range [][]byte{a, b, a, b, b, a} {
			slow.known = nil
			got, err := quick.read(block)
			want, wantErr := slow.read(block)
			if (err == nil) != (wantErr == nil) || got != want {
				t.Fatalf("%x: %+v %v, want %+v %v", block, got, err, want, wantErr)
			}
			if err != nil {
				return
			}
		}
	})
}

func TestBlocks(t *testing.T) {
	fields := requestFields(&Options{Addr: "127.0.0.1:8081", Path: "/a.B/C", UserAgent: "x"})
	for _, table := range []uint32{tableSize, 0} {
		b := newBlocks(fields, table)
		dec := hpack.NewDecoder(table, nil)
		dec.SetAllowedMaxDynamicTableSize(table)
		for i, block := range [][]byte{b.first, b.rest, b.rest} {
			got, err := dec.DecodeFull(block)
			if err != nil || len(got) != len(fields) {
				t.Fatalf("table %d, block %d: %v %v", table, i, got, err)
			}
			for j := range got {
				if got[j] != fields[j] {
					t.Errorf("table %d, block %d: %v, want %v", table, i, got[j], fields[j])
				}
			}
		}
		if table > 0 && len(b.rest) != len(fields) {
			t.Errorf("the block takes %d bytes for %d fields", len(b.rest), len(fields))
		}
	}
}

// TestTableChanges: the same bytes mean another thing once the table has changed.
func TestTableChanges(t *testing.T) {
	r := newReader()
	for _, status := range []byte("123") {
		add := append(append([]byte{0x88, 0x40, 11}, "grpc-status"...), 1, status)
		for _, block := range [][]byte{add, {0x88, 0xbe}, {0x88, 0xbe}} {
			m, err := r.read(block)
			if err != nil || m.grpc != int(status-'0') || m.http != 200 {
				t.Errorf("%x after %q: %+v, %v", block, status, m, err)
			}
		}
	}
	if len(r.known) != 1 {
		t.Errorf("%d blocks are known, want the one that keeps the table", len(r.known))
	}
}

// TestOwnWindowIsGivenBack: a server may send for ever, also to calls that were
// given up.
func TestOwnWindowIsGivenBack(t *testing.T) {
	l := newLoad("x:1", 1, 1)
	c := newConn(&l.o, requestFields(&l.o), func(Call, Answer) {})
	if _, err := c.feed(appendHeader(nil, 0, kindSettings, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if ok, err := c.send(Call{}, 0); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c.expire(1)
	c.out = nil
	data := append(appendHeader(nil, maxPayload, kindData, 0, 1), make([]byte, maxPayload)...)
	for range 4 * ownWindow / maxPayload {
		if _, err := c.feed(data); err != nil {
			t.Fatal(err)
		}
	}
	back := uint32(0)
	for b := c.out; len(b) > 0; {
		f, n, err := cut(b)
		if err != nil || n == 0 || f.kind != kindWindow || f.stream != 0 {
			t.Fatalf("%+v, %v", f, err)
		}
		back += binary.BigEndian.Uint32(f.payload)
		b = b[n:]
	}
	if back < 3*ownWindow {
		t.Errorf("%d bytes of %d were given back", back, 4*ownWindow)
	}
}
