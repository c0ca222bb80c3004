package rlsload

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// A block that was remembered is not believed once another changed the table.
func TestStatusesFollowTheTable(t *testing.T) {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	block := func(pairs ...string) []byte {
		b.Reset()
		for i := 0; i < len(pairs); i += 2 {
			if err := enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}); err != nil {
				t.Fatal(err)
			}
		}
		return bytes.Clone(b.Bytes())
	}
	r := newStatusReader()
	for i, c := range []struct {
		block []byte
		want  int
	}{
		{block(":status", "200", "content-type", "application/grpc"), noStatus},
		{block("grpc-status", "0"), 0},
		{block("grpc-status", "0"), 0}, // a reference to the newest entry
		{block("grpc-status", "0"), 0},
		{block("grpc-status", "8"), 8}, // is added, and is the newest now
		{block("grpc-status", "8"), 8}, // the same byte as the 0 before
		{block("grpc-status", "0"), 0},
		{block(":status", "503"), 2},
	} {
		if got, err := r.read(c.block); err != nil || got != c.want {
			t.Errorf("block %d: %d, %v, want %d", i, got, err, c.want)
		}
	}
}

func TestNeutral(t *testing.T) {
	for _, c := range []struct {
		block []byte
		want  bool
	}{
		{[]byte{0x88, 0xbe}, true},
		{[]byte{0xff, 0x01}, true},                  // an index of two bytes
		{[]byte{0x00, 0x01, 'a', 0x01, 'b'}, true},  // literals, not to be added
		{[]byte{0x0f, 0x2f, 0x01, 'b', 0x88}, true}, // the name by its index
		{[]byte{0x40, 0x01, 'a', 0x01, 'b'}, false}, // to be added
		{[]byte{0x00, 0x01, 'a', 0x01, '@', 0x40}, false},
		{[]byte{0x20}, false}, // a size
	} {
		if got := neutral(c.block); got != c.want {
			t.Errorf("neutral(%x) = %v", c.block, got)
		}
	}
}
