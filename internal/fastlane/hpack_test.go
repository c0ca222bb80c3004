package fastlane

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
)

// twins decode the same blocks, ours and x/net's.
type twins struct {
	ours   decoder
	theirs *hpack.Decoder
	list   []hpack.HeaderField
}

func newTwins() *twins {
	w := &twins{ours: decoder{limit: 1 << 20, methods: names{echoPath: 3}}}
	w.theirs = hpack.NewDecoder(defaultTable, func(f hpack.HeaderField) { w.list = append(w.list, f) })
	return w
}

// decode returns how they differ, and whether both decoded the block.
func (w *twins) decode(block []byte) (difference string, ok bool) {
	w.list = nil
	err := w.ours.decode(block)
	_, theirErr := w.theirs.Write(block)
	if closeErr := w.theirs.Close(); theirErr == nil {
		theirErr = closeErr
	}
	if err != nil || theirErr != nil {
		// Ours is stricter with integers, with bombs, and where a size update may be.
		if err == nil && theirErr != nil {
			return fmt.Sprintf("x/net refuses: %v", theirErr), false
		}
		if theirErr == nil && err != errInteger && err != errTableSize && err != errBomb {
			return fmt.Sprintf("x/net does not refuse: %v", err), false
		}
		return "", false
	}
	if len(w.list) != len(w.ours.fields) {
		return fmt.Sprintf("%d fields, not %d", len(w.ours.fields), len(w.list)), true
	}
	for i, f := range w.list {
		o := &w.ours.fields[i]
		if string(o.name) != f.Name || string(o.value) != f.Value {
			return fmt.Sprintf("field %d: %q %q, not %q %q", i, o.name, o.value, f.Name, f.Value), true
		}
		again := field{name: o.name, value: o.value}
		if again.classify(w.ours.methods); again.kind != o.kind || again.meaning != o.meaning {
			return fmt.Sprintf("field %d (%q %q): kind %d meaning %d", i, o.name, o.value, o.kind, o.meaning), true
		}
	}
	var used int
	for i := range w.ours.table.n {
		used += w.ours.table.at(i).size()
	}
	if t := &w.ours.table; used != t.used || used > defaultTable-t.less {
		return fmt.Sprintf("the table counts %d bytes of %d, and holds %d", t.used, defaultTable-t.less, used), true
	}
	return "", true
}

// TestDecoderAgrees decodes what x/net's encoder makes of many lists: entries
// come and go, and a block inserts more than the table holds.
func TestDecoderAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := newTwins()
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for i := range 3000 {
		b.Reset()
		if r.IntN(100) == 0 {
			enc.SetMaxDynamicTableSize(uint32(r.IntN(defaultTable + 1)))
		}
		many := r.IntN(12)
		if r.IntN(50) == 0 {
			many = 200
		}
		for range many {
			f := hpack.HeaderField{Name: fmt.Sprintf("name-%d", r.IntN(20)), Value: strings.Repeat(fmt.Sprint(r.IntN(1000)), r.IntN(40)), Sensitive: r.IntN(9) == 0}
			switch r.IntN(6) {
			case 0:
				f = hpack.HeaderField{Name: "grpc-timeout", Value: fmt.Sprintf("%du", r.IntN(1e8))}
			case 1:
				f = hpack.HeaderField{Name: ":path", Value: []string{echoPath, "/", "/other"}[r.IntN(3)]}
			case 2:
				f.Value = string([]byte{byte(r.IntN(256)), byte(r.IntN(256))})
			}
			if err := enc.WriteField(f); err != nil {
				t.Fatal(err)
			}
		}
		if diff, ok := w.decode(b.Bytes()); diff != "" || !ok {
			t.Fatalf("block %d: %s", i, diff)
		}
	}
}

// FuzzDecoder holds the decoder to x/net's, over two blocks with one table.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\x83\x86\x44\x0f/test.Echo/Echo"), []byte("\x83\x86\xbe"))
	f.Add([]byte("\x40\x0cgrpc-timeout\x0399m\x20"), []byte("\x3f\xe1\x1f\x7e\x85\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x20\x3f\xe1\x1f\x40\x01a\x01b"), []byte("\x0f\x2f\x01c\x1f\x2f\x01d\xbe"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		w := newTwins()
		for _, block := range [][]byte{a, b, a} {
			diff, ok := w.decode(block)
			if diff != "" {
				t.Fatalf("%x: %s", block, diff)
			}
			if !ok {
				return
			}
		}
	})
}

// TestFieldsOutliveTheTable refers to an entry, and in the same block inserts so
// much that the table is renewed several times.
func TestFieldsOutliveTheTable(t *testing.T) {
	w := newTwins()
	if diff, ok := w.decode([]byte("\x40\x04keep\x02me")); diff != "" || !ok {
		t.Fatal(diff)
	}
	block := []byte("\xbe")
	for i := range 600 {
		block = append(block, fmt.Sprintf("\x40\x04%04d\x28%040d\xbe", i, i)...)
	}
	if diff, ok := w.decode(block); diff != "" || !ok {
		t.Error(diff)
	}
}

// TestListBound decodes a list that is too large: what follows is still right.
// One that is far too large is not decoded.
func TestListBound(t *testing.T) {
	d := decoder{limit: 100}
	if err := d.decode([]byte(strings.Repeat("\x82", 1000))); err != errBomb {
		t.Errorf("a bomb: %v", err)
	}
	if err := d.decode([]byte("\x40\x01a\x01b" + strings.Repeat("\xbe", 40) + "\x40\x01c\x01d")); err != nil {
		t.Fatal(err)
	}
	if d.size != 42*34 || len(d.fields) != 2 {
		t.Errorf("size %d, %d fields", d.size, len(d.fields))
	}
	if err := d.decode([]byte("\xbe\xbf")); err != nil || string(d.fields[0].value)+string(d.fields[1].value) != "db" {
		t.Errorf("%v %v", d.fields, err)
	}
}

func TestParseTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1n": 1, "20u": 20 * time.Microsecond, "300m": 300 * time.Millisecond, "4S": 4 * time.Second,
		"5M": 5 * time.Minute, "6H": 6 * time.Hour, "0m": 0, "99999999S": 99999999 * time.Second,
		"99999999H": noTimeout,
		"":          -1, "1": -1, "m": -1, "1x": -1, "-1m": -1, "1.5S": -1, " 1m": -1, "123456789m": -1, "+1m": -1,
	} {
		if got := parseTimeout([]byte(text)); got != want {
			t.Errorf("%q is %d, not %d", text, got, want)
		}
	}
}

// TestDeadline looks at what a handler learns of time.
func TestDeadline(t *testing.T) {
	type seen struct{ received, deadline time.Time }
	got := make(chan seen, 1)
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: HandlerFunc(func(c *Call, _ []byte) {
		got <- seen{c.Received(), c.Deadline()}
		c.Reply(nil)
	})}})
	p := newPeer(t, addr)
	before := time.Now()
	p.call(1, echoPath, "")
	if s := <-got; !s.deadline.IsZero() || s.received.Before(before) || s.received.After(time.Now()) {
		t.Errorf("%v", s)
	}
	p.call(3, echoPath, "", "grpc-timeout", "1500m")
	if s := <-got; s.deadline.Sub(s.received) != 1500*time.Millisecond {
		t.Errorf("%v", s)
	}
}

// TestStreams holds the table to a map.
func TestStreams(t *testing.T) {
	var s streams
	r := rand.New(rand.NewPCG(3, 4))
	model := make(map[uint32]*Call)
	for next := uint32(1); next < 20_000; next += 2 {
		c := &Call{stage: stage{id: next}}
		s.put(c)
		model[next] = c
		for id, c := range model {
			if len(model) < 300 || r.IntN(2) == 0 {
				break
			}
			s.remove(c)
			s.remove(c)
			delete(model, id)
		}
		if id := uint32(r.IntN(int(next)+4)) | 1; s.get(id) != model[id] {
			t.Fatalf("stream %d: %v, not %v", id, s.get(id), model[id])
		}
	}
	n := 0
	s.each(func(c *Call) {
		n++
		if model[c.id] != c {
			t.Errorf("stream %d is not there", c.id)
		}
	})
	if n != len(model) || s.n != n {
		t.Errorf("%d streams, not %d", n, len(model))
	}
}
