package rlsload

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// body is a gRPC message.
func body(msg []byte) []byte {
	return append([]byte{0, byte(len(msg) >> 24), byte(len(msg) >> 16), byte(len(msg) >> 8), byte(len(msg))}, msg...)
}

// message builds one of varints and bytes.
func message(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		n := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
		case string:
			b = appendText(b, n, v)
		case []byte:
			b = appendBytes(b, n, v)
		}
	}
	return b
}

func TestParseAnswer(t *testing.T) {
	limit := message(1, 100, 2, 3, 3, "any")
	status := message(1, 2, 2, limit, 3, 7, 4, message(1, 61, 2, 5))
	got, err := parseAnswer(body(message(1, 2, 2, status, 2, message(1, 1), 3, "ignored")))
	want := Answer{Code: CodeOverLimit, Statuses: []Status{
		{CodeOverLimit, true, 100, 3, "any", 7, 61 * time.Second},
		{Code: CodeOK},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseAnswer = %+v, %v, want %+v", got, err, want)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		body []byte
		want Code
		bad  bool
	}{
		{body(message(1, 1)), CodeOK, false},
		{body(message(2, message(1, 2), 1, 2)), CodeOverLimit, false}, // fields come in any order
		{body(nil), CodeUnknown, false},
		{nil, 0, true},
		{body(message(1, 1))[:6], 0, true},
		{append([]byte{1}, body(message(1, 1))[1:]...), 0, true}, // compressed
	} {
		got, err := verdict(c.body)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("verdict(%x) = %v, %v, want %v", c.body, got, err, c.want)
		}
	}
}

func TestKeysScript(t *testing.T) {
	k := Keys{Domain: "d", Key: "k", First: 40, Count: 5, Batch: 2}
	if k.Calls() != 3 {
		t.Errorf("%d calls for 5 keys by 2, want 3", k.Calls())
	}
	// The third call is for the fifth key and, from the start again, the first.
	got := k.Script().append([]byte("before"), 2, 7)
	want := dataFrame(Request{Domain: "d", Descriptors: []Descriptor{{{"k", Number(44)}}, {{"k", Number(40)}}}})
	setStream(want, 7)
	if !bytes.Equal(got, append([]byte("before"), want...)) {
		t.Errorf("frame %q, want %q", got, want)
	}
	seen := map[string]bool{}
	spread := Keys{Domain: "d", Key: "k", Count: 50, Seed: 3}.Script()
	for i := range uint64(2000) {
		seen[string(spread.append(nil, i, 1))] = true
	}
	if len(seen) != 50 {
		t.Errorf("2000 calls ask for %d of 50 keys", len(seen))
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add(body(message(1, 2, 2, message(1, 2, 2, message(1, 5), 4, message(1, 60)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAnswer(b)
		if v, verr := verdict(b); err == nil && (verr != nil || v != a.Code && !repeated(b)) {
			t.Errorf("verdict(%x) = %v, %v; parsed %v", b, v, verr, a.Code)
		}
	})
}

// repeated reports whether a code is there twice: the last is right, and the
// first is what verdict sees. No server does that.
func repeated(b []byte) bool {
	n := 0
	_ = fields(b[prefixLen:], func(num protowire.Number, _ uint64, _ []byte) error {
		if num == 1 {
			n++
		}
		return nil
	})
	return n > 1
}
