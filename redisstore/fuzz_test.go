package redisstore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/key"
)

// Whatever a server sends, and whatever is found under a key, is refused or
// understood: nothing panics and nothing is read without a bound.

func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n", "-NOAUTH Authentication required.\r\n", ":1\r\n", "$-1\r\n", "$0\r\n\r\n", "*0\r\n",
		"*3\r\n$6\r\nmaster\r\n:3129659\r\n*1\r\n*3\r\n$9\r\n127.0.0.1\r\n$4\r\n9001\r\n$7\r\n3129242\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+deep\r\n", "$65536\r\nshort", "*65536\r\n+a\r\n", "*-7\r\n", "$99999999999999999999\r\n",
		"\r\n", "\n", "HTTP/1.1 400 Bad Request\r\n", strings.Repeat("x", 5000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out []string
		err := readReply(bufio.NewReaderSize(bytes.NewReader(data), 512), &out, 0)
		size := 0
		for _, s := range out {
			size += len(s)
		}
		if size > len(data) {
			t.Errorf("%d bytes were read from %d", size, len(data))
		}
		if err == nil && len(data) == 0 {
			t.Error("nothing was read as a reply")
		}
	})
}

func FuzzParseSlots(f *testing.F) {
	row := func(from, to int64, rest ...[]byte) []byte {
		return list(append([][]byte{number(from), number(to)}, rest...)...)
	}
	node := list(text("127.0.0.1"), number(7001), text("id"))
	for _, seed := range [][]byte{
		list(), list(row(0, 16383, node)), list(row(0, 100, node), row(101, 16383, list(text(""), number(1)))),
		list(row(5, 4, node)), list(row(-1, 4, node)), list(row(0, 16384, node)), list(row(0, 1)),
		list(row(0, 1, list(text("h")))), list(row(0, 1, number(3))), list(text("x")), number(1),
		list(row(0, 1, list(number(1), text("port")))),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ok := message(data)
		if !ok {
			return
		}
		ranges, err := parseSlots(&m, "127.0.0.1:7000")
		if err != nil {
			return
		}
		if len(ranges) == 0 {
			t.Error("a topology without slots was accepted")
		}
		for _, r := range ranges {
			if r.from < 0 || r.to >= key.Slots || r.from > r.to || r.addr == "" {
				t.Errorf("accepted %+v", r)
			}
		}
	})
}

// FuzzFound decides an entry on a state and a replay record made of any bytes.
func FuzzFound(f *testing.F) {
	m := weir.MustMeter(everyAlgorithm[0])
	var st algo.State
	algo.Decide(m, &st, 1_699_999_998_990_000, 150, algo.Owner{}) // 10 ms before the record
	good := algo.AppendState(nil, m, &st)
	for kind := range everyAlgorithm {
		f.Add(uint8(kind), uint8(weir.Enforce), int64(1), good, []byte(nil))
		f.Add(uint8(kind), uint8(weir.UpTo), int64(1000), []byte("x"), bytes.Repeat([]byte{0}, 60))
		f.Add(uint8(kind), uint8(weir.Refund), int64(1)<<60, good[:11], bytes.Repeat([]byte{0xff}, 80))
		f.Add(uint8(kind), uint8(weir.Enforce), int64(1), good, recordOf(m, good))
	}
	f.Fuzz(func(t *testing.T, kind, mode uint8, cost int64, stored, record []byte) {
		meter := weir.MustMeter(everyAlgorithm[int(kind)%len(everyAlgorithm)])
		e := weir.Entry{ID: "r", Charges: []weir.Charge{{Key: "k", Meter: meter, Cost: cost, Mode: weir.Mode(mode)}}}
		if e.Validate() != nil {
			return
		}
		fl := found(&e, stored, record)
		fl.answer(&fl.groups[0], &e)
		if len(e.Outcomes) != 1 {
			t.Fatalf("%d outcomes", len(e.Outcomes))
		}
		if o := e.Outcomes[0]; o.Remaining < 0 {
			t.Errorf("remaining %d", o.Remaining)
		}
		// The same record, undone.
		fl = found(&e, stored, record)
		fl.groups[0].flags = fl.groups[0].flags&^flagReplay | flagUndo
		if fl.groups[0].replay >= 0 {
			fl.answer(&fl.groups[0], nil)
		}
	})
}

// FuzzFoundInOneText decides two entries on states that came in one text, any bytes of
// a size, and on the same in a list.
func FuzzFoundInOneText(f *testing.F) {
	m := weir.MustMeter(everyAlgorithm[0])
	var st algo.State
	algo.Decide(m, &st, 1_699_999_998_990_000, 150, algo.Owner{})
	good := algo.AppendState(nil, m, &st)
	for kind := range everyAlgorithm {
		f.Add(uint8(kind), append(good, good...))
		f.Add(uint8(kind), []byte("ab"))
	}
	f.Fuzz(func(t *testing.T, kind uint8, stored []byte) {
		meter := weir.MustMeter(everyAlgorithm[int(kind)%len(everyAlgorithm)])
		size := len(stored) / 2
		e := weir.Entry{Charges: []weir.Charge{{Key: "k1", Meter: meter, Cost: 1}, {Key: "k2", Meter: meter, Cost: 1}}}
		if e.Validate() != nil || size == 0 || size > 255 {
			return
		}
		fl := found(&e, stored[:size], nil, stored[size:2*size])
		fl.answer(&fl.groups[0], &e)
		again := weir.Entry{Charges: e.Charges}
		text := append56([]byte{byte(size)}, 1_700_000_000_000_000)
		text = append(append(text, 0, 0, 0, 1, 0, 0, 0, 10), stored[:2*size]...)
		if err := fl.found.readFrom(strings.NewReader(bulk(text))); err != nil {
			t.Fatal(err)
		}
		if err := fl.read(); err != nil {
			t.Fatal(err)
		}
		if fl.admitted != 1 || fl.script != 10*time.Microsecond {
			t.Errorf("admitted %d in %v", fl.admitted, fl.script)
		}
		fl.answer(&fl.groups[0], &again)
		if again.Admitted != e.Admitted || again.Outcomes[0] != e.Outcomes[0] || again.Outcomes[1] != e.Outcomes[1] {
			t.Errorf("in one text %+v, in a list %+v", again.Outcomes, e.Outcomes)
		}
	})
}

// FuzzFoundTwins decides an entry on what is found under two names, any bytes
// both, and then as if it stood under the first that counts alone.
func FuzzFoundTwins(f *testing.F) {
	m := weir.MustMeter(everyAlgorithm[0])
	var st algo.State
	algo.Decide(m, &st, 1_699_999_999_990_000, 150, algo.Owner{})
	good := algo.AppendState(nil, m, &st)
	for kind := range everyAlgorithm {
		for how := range uint8(4) {
			f.Add(uint8(kind), how, uint8(weir.Enforce), int64(1), good, good[:11])
			f.Add(uint8(kind), how, uint8(weir.Refund), int64(1000), []byte("x"), good)
		}
	}
	f.Fuzz(func(t *testing.T, kind, how, mode uint8, cost int64, own, twin []byte) {
		meter := weir.MustMeter(everyAlgorithm[int(kind)%len(everyAlgorithm)])
		c := weir.Charge{Key: "{t}k", Twin: "{t}t", Twinning: weir.Twinning(how), Meter: meter, Cost: cost, Mode: weir.Mode(mode)}
		e := weir.Entry{ID: "r", Charges: []weir.Charge{c}}
		if e.Validate() != nil {
			return
		}
		fl := found(&e, own, nil, twin)
		fl.answer(&fl.groups[0], &e)
		first, other := own, twin
		if c.Twinning == weir.TwinLast {
			first, other = twin, own
		}
		var st algo.State
		if err := algo.ParseState(first, meter, &st); err != nil || !st.Counts(meter, fl.now) {
			first = other
		}
		c.Twin, c.Twinning = "", weir.TwinNone
		want := weir.Entry{ID: "r", Charges: []weir.Charge{c}}
		fl = found(&want, first, nil)
		fl.answer(&fl.groups[0], &want)
		if e.Admitted != want.Admitted || e.Outcomes[0] != want.Outcomes[0] {
			t.Errorf("with two names %+v, with one %+v", e.Outcomes[0], want.Outcomes[0])
		}
	})
}

// recordOf is a remembered request of one charge, a second ago.
func recordOf(m *weir.Meter, before []byte) []byte {
	b := append56(nil, 1_699_999_999_000_000)
	b = appendMeter(append(b, 1), m)
	b = append24(b, 5)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(before))), before...)
}

// found is a flight of one entry whose script has answered with these values.
func found(e *weir.Entry, stored, record []byte, twin ...[]byte) *flight {
	fl := newFlight(&Store{})
	it := &item{}
	it.init(e, &amendment{}, 0, 0)
	it.identify(nil)
	fl.build([]*item{it}, 16)
	values := []string{bulk(stored)}
	for _, v := range twin {
		values = append(values, bulk(v))
	}
	if fl.replays.len() > 0 {
		values = append(values, bulk(record))
	}
	values = append(values, ":1700000000000000\r\n", ":1\r\n", ":10\r\n")
	reply := fmt.Sprintf("*%d\r\n%s", len(values), strings.Join(values, ""))
	if err := fl.found.readFrom(strings.NewReader(reply)); err != nil {
		panic(err)
	}
	if err := fl.read(); err != nil {
		panic(err)
	}
	return fl
}

func bulk(b []byte) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(b), b) }

// The client library's messages can be made of bytes of its own form: a type,
// a length or a number, and what follows.

func text(s string) []byte    { return append(head('$', int64(len(s))), s...) }
func number(n int64) []byte   { return head(':', n) }
func list(v ...[]byte) []byte { return append(head('*', int64(len(v))), bytes.Join(v, nil)...) }

func head(kind byte, n int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(n))
}

// message makes one of data, unless data would have the library allocate
// without a bound, which a server cannot make it do this way.
func message(data []byte) (m rueidis.RedisMessage, ok bool) {
	rest, ok := wellFormed(data, 0)
	if !ok || len(rest) > 0 {
		return m, false
	}
	err := m.CacheUnmarshalView(append(make([]byte, 7), data...))
	return m, err == nil
}

func wellFormed(data []byte, depth int) (rest []byte, ok bool) {
	if len(data) < 9 || depth > 8 {
		return nil, false
	}
	kind, n := data[0], int64(binary.BigEndian.Uint64(data[1:9]))
	rest = data[9:]
	switch kind {
	case ':':
		return rest, true
	case '$':
		if n < 0 || n > int64(len(rest)) {
			return nil, false
		}
		return rest[n:], true
	case '*':
		if n < 0 || n > int64(len(rest)) {
			return nil, false
		}
		for range n {
			if rest, ok = wellFormed(rest, depth+1); !ok {
				return nil, false
			}
		}
		return rest, true
	}
	return nil, false
}
