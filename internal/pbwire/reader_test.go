package pbwire_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/weirlimit/weir/internal/pbwire"
)

// skipped reads a message of which nothing is known.
func skipped(b []byte) error {
	r := pbwire.Read(string(b))
	for r.Next() {
		r.Skip()
	}
	return r.Err()
}

func groups(n int) []byte {
	var b []byte
	for range n {
		b = protowire.AppendTag(b, 3, protowire.StartGroupType)
	}
	for range n {
		b = protowire.AppendTag(b, 3, protowire.EndGroupType)
	}
	return b
}

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		b  string
		ok bool
	}{
		"empty":                        {"", true},
		"a varint":                     {"\x08\x01", true},
		"the longest varint":           {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", true},
		"more than 64 bits":            {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", false},
		"eleven bytes":                 {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", false},
		"a varint without an end":      {"\x08\x80", false},
		"no varint":                    {"\x08", false},
		"a text":                       {"\x0a\x02ab", true},
		"a text cut off":               {"\x0a\x03ab", false},
		"a text of 2^64-1 bytes":       {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01ab", false},
		"fixed":                        {"\x0d1234\x0912345678", true},
		"fixed 32 cut off":             {"\x0d123", false},
		"fixed 64 cut off":             {"\x091234567", false},
		"field 0":                      {"\x00\x01", false},
		"the highest field":            {"\xf8\xff\xff\xff\x0f\x01", true},
		"too high a field":             {"\x80\x80\x80\x80\x10\x01", false},
		"a tag in more bytes":          {"\x88\x80\x00\x01", true},
		"type 6":                       {"\x0e\x01", false},
		"type 7":                       {"\x0f\x01", false},
		"an end without a group":       {"\x0c", false},
		"a group":                      {"\x0b\x08\x01\x0c", true},
		"a group with another end":     {"\x0b\x14", false},
		"a group without an end":       {"\x0b\x08\x01", false},
		"a group with a bad field":     {"\x0b\x0e\x0c", false},
		"a group with a cut-off field": {"\x0b\x08\x80", false},
		"a group with field 0":         {"\x0b\x00\x01\x0c", false},
		"a group with a cut-off tag":   {"\x0b\x80", false},
		"64 groups":                    {string(groups(64)), true},
	} {
		want := proto.Unmarshal([]byte(tc.b), new(emptypb.Empty))
		if err := skipped([]byte(tc.b)); (err == nil) != tc.ok || (want == nil) != tc.ok || err != nil && !errors.Is(err, pbwire.ErrMalformed) {
			t.Errorf("%s: %v; protobuf says %v", name, err, want)
		}
	}
	if skipped(groups(65)) == nil {
		t.Error("groups without bound")
	}
}

// TestFields: known fields are read, whatever is between them; one of another
// type is skipped.
func TestFields(t *testing.T) {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendString(b, strings.Repeat("x", 200))
	b = append(b, groups(2)...)
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, 1<<63)
	b = protowire.AppendTag(b, 1, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, 7)
	var text string
	var n uint64
	r := pbwire.Read(pbwire.View(b))
	for r.Next() {
		switch r.Tag {
		case 1<<3 | pbwire.Bytes:
			text = r.Text()
		case 2<<3 | pbwire.Varint:
			n = r.Varint()
		default:
			r.Skip()
		}
	}
	if r.Err() != nil || text != strings.Repeat("x", 200) || n != 1<<63 {
		t.Errorf("%v: %q, %d", r.Err(), text, n)
	}
}

// TestWithin: a malformed message makes the one it is in malformed, and ends it.
func TestWithin(t *testing.T) {
	outer := pbwire.Read("\x0a\x01\x08\x10\x01")
	if !outer.Next() {
		t.Fatal("no field")
	}
	inner := pbwire.Read(outer.Text())
	for inner.Next() {
		inner.Varint()
	}
	outer.Within(&inner)
	if outer.Next() || outer.Err() == nil {
		t.Error("read on")
	}
	if outer.Text() != "" || outer.Varint() != 0 || outer.Err() == nil {
		t.Error("something was read where there is nothing")
	}
}

// mayNest tells whether there may be more groups within each other than are
// taken: each has a tag of which the first byte says so.
func mayNest(b []byte) bool {
	n := 0
	for _, c := range b {
		if c&7 == 3 {
			n++
		}
	}
	return n > 64
}

// FuzzSkip takes what protobuf takes, and nothing else.
func FuzzSkip(f *testing.F) {
	f.Add([]byte("\x08\x01\x0a\x02ab\x0d1234\x0912345678\x0b\x08\x01\x0c"))
	f.Add(groups(3))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, want := skipped(b), proto.Unmarshal(b, new(emptypb.Empty))
		if (got == nil) != (want == nil) && !(want == nil && mayNest(b)) {
			t.Errorf("%x: %v, protobuf says %v", b, got, want)
		}
	})
}
