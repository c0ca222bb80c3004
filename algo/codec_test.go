package algo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

func TestStoredStateRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		if k.state.Used == 0 {
			return
		}
		prefix := []byte("before")
		b := algo.AppendState(prefix, k.meter, &k.state)
		if !bytes.HasPrefix(b, prefix) {
			t.Fatalf("%v: what was there before is lost", k.meter.Limit)
		}
		// A state read before must leave no trace.
		got := algo.State{Used: 9, At: 9, Frac: 9, Mark: 9, Dirty: true, Runs: make([]algo.Run, 3, 100)}
		if err := algo.ParseState(b[len(prefix):], k.meter, &got); err != nil {
			t.Fatalf("%v: %v", k.meter.Limit, err)
		}
		want := k.state
		want.Dirty = false
		if a, b := dump(got), dump(want); a != b {
			t.Fatalf("%v:\nread  %s\nwrote %s", k.meter.Limit, a, b)
		}
	})
}

func TestStoredSizes(t *testing.T) {
	for _, tt := range []struct {
		limit   string
		charges int
		gap     weir.Micros
		want    int
	}{
		{"10/s burst 5", 1, 0, 12},
		{"10/s burst 5", 3, 150_001, 12},       // an interval of whole microseconds
		{"1000000/365d burst 3", 3, 0, 12},     // likewise
		{"3/s burst 5", 1, 0, 12},              // no fraction yet
		{"3/s burst 5", 3, 200_000, 15},        // a unit drained at 1000000/3 us
		{"9999991/365d burst 9", 9, 1_999, 12}, // nothing drained yet
		{"9999991/365d burst 9", 9, weir.Second, 15},
		{"100/m fixed_window", 7, 1, 12},
		{"16/s", 1, 0, 12},
		{"16/s", 16, 1, 165},
		{"16/s", 2, 1, 25},
		{"16/s", 16, 0, 12}, // one instant is one run
		{"10000000/s", 5000, 1, 12},
		{"1000/m sliding_log", 1000, 1, 10_005},
		{"5 concurrency 30s", 1, 0, 31},
		{"5 concurrency 30s", 5, 1, 135},
	} {
		m, s := parse(t, tt.limit), algo.State{}
		for i := range tt.charges {
			now := epoch + weir.Micros(i)*tt.gap
			if o := chargeOne(m, &s, now, 1, weir.Enforce, string(rune('a'+i))); !o.OK {
				t.Fatalf("%s: charge %d is denied", tt.limit, i)
			}
		}
		if n := len(algo.AppendState(nil, m, &s)); n != tt.want {
			t.Errorf("%s after %d charges: %d bytes, want %d", tt.limit, tt.charges, n, tt.want)
		}
	}
}

// TestALargeSlidingWindowStaysSmall: its runs are as many as k and a few, in
// whatever pattern units come.
func TestALargeSlidingWindowStaysSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &key{meter: weir.MustMeter(drawLimit(t, weir.SlidingWindow)), now: epoch}
		k.last.Remaining = k.meter.Capacity
		for range 150 {
			k.now += drawStep(t, k.meter.Limit, k.now, k.last, true)
			mode := rapid.SampledFrom([]weir.Mode{weir.Enforce, weir.Enforce, weir.UpTo, weir.Refund}).Draw(t, "mode")
			cost := 1 + drawCost(t, k.meter.Capacity, k.last.Remaining)/rapid.Int64Range(1, 40).Draw(t, "part")
			k.last = chargeOne(k.meter, &k.state, k.now, cost, mode, "")
			if n := len(k.state.Runs); n > weir.RunsPerWindow+1 {
				t.Fatalf("%v: %d runs", k.meter.Limit, n)
			}
		}
	})
}

func TestCorruptStatesAreEmptyAndReported(t *testing.T) {
	bucket, runs, slots := parse(t, "10/s gcra"), parse(t, "10/s"), parse(t, "10 concurrency 1s")
	stored := func(m *weir.Meter, charges int) []byte {
		s := algo.State{}
		for i := range charges {
			chargeOne(m, &s, epoch+weir.Micros(i), 1, weir.Enforce, string(rune('a'+i)))
		}
		return algo.AppendState(nil, m, &s)
	}
	flip := func(b []byte, i int) []byte {
		b = bytes.Clone(b)
		b[i] ^= 1
		return b
	}
	for _, tt := range []struct {
		name  string
		meter *weir.Meter
		bytes []byte
	}{
		{"nothing", bucket, nil},
		{"a byte", bucket, []byte{1}},
		{"a bucket cut", bucket, stored(bucket, 3)[:11]},
		{"a bucket and a byte", bucket, append(stored(bucket, 3), 0)},
		{"a run cut", runs, stored(runs, 3)[:34]},
		{"a run missing", runs, stored(runs, 3)[:25]},
		{"a run too large", runs, flip(stored(runs, 3), 14)},
		{"a sum too large", runs, flip(stored(runs, 3), 4)},
		{"a run of nothing", runs, flip(stored(runs, 1), 4)},
		{"one run as if of several", runs, append(stored(runs, 1), 0, 0, 1)},
		{"a slot cut", slots, stored(slots, 3)[:82]},
		{"a slot missing", slots, stored(slots, 3)[:57]},
		{"text", bucket, []byte("1699920000000000")},
	} {
		s := algo.State{Used: 9, At: 9, Frac: 9, Runs: make([]algo.Run, 3)}
		if err := algo.ParseState(tt.bytes, tt.meter, &s); !errors.Is(err, algo.ErrCorrupt) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !empty(s) {
			t.Errorf("%s: read as %s", tt.name, dump(s))
		}
	}
}

func empty(s algo.State) bool {
	return s.Used == 0 && s.At == 0 && s.Frac == 0 && len(s.Runs) == 0 && !s.Dirty
}

func TestAnotherMachinesBytesAreEmptyAndNotCorrupt(t *testing.T) {
	texts := []string{"10/s gcra", "10/s fixed_window", "10/s", "10 concurrency 1s"}
	for _, wrote := range texts {
		m, s := parse(t, wrote), algo.State{}
		chargeOne(m, &s, epoch, 1, weir.Enforce, "a")
		b := algo.AppendState(nil, m, &s)
		for _, read := range texts {
			var got algo.State
			err := algo.ParseState(b, parse(t, read), &got)
			if err != nil || empty(got) != (read != wrote) {
				t.Errorf("%s read by %s: %s, %v", wrote, read, dump(got), err)
			}
		}
	}
}

// FuzzParseState: whatever a store holds, reading it does not panic, nor does
// deciding on what was read.
func FuzzParseState(f *testing.F) {
	meters := []*weir.Meter{
		parse(f, "3/s burst 5"), parse(f, "1/365d burst 2"), parse(f, "10000000/s gcra"), parse(f, "3/m fixed_window"),
		parse(f, "3/s"), parse(f, "700001/s"), parse(f, "9/s sliding_log"), parse(f, "3 concurrency 1s"),
	}
	for _, m := range meters {
		s := algo.State{}
		chargeOne(m, &s, epoch, 2, weir.Enforce, "a")
		chargeOne(m, &s, epoch+weir.Second/2, 1, weir.Enforce, "b")
		f.Add(algo.AppendState(nil, m, &s), int64(epoch), int64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, at, cost int64) {
		now := weir.Micros(uint64(at) % (1 << 52))
		for _, m := range meters {
			var s algo.State
			if err := algo.ParseState(b, m, &s); err != nil {
				if !empty(s) {
					t.Fatalf("%v: %v, read as %s", m.Limit, err, dump(s))
				}
				continue
			}
			if s.Used > 0 && len(b) != 15 { // a fraction of 0 is read, and not written
				if again := algo.AppendState(nil, m, &s); !bytes.Equal(again, b) {
					t.Fatalf("%v: %x is written as %x", m.Limit, b, again)
				}
			}
			for mode := weir.Enforce; mode <= weir.UpTo; mode++ {
				s := clone(s)
				o := chargeOne(m, &s, now, max(0, cost), mode, "a")
				if o.Remaining < 0 || o.Remaining > m.Capacity || s.Used < 0 {
					t.Fatalf("%v: %s of %d: %+v, then %s", m.Limit, mode, cost, o, dump(s))
				}
			}
		}
	})
}

func TestRunsThatNobodyWroteAreCorrupt(t *testing.T) {
	m := parse(t, "10/s")
	run := func(at weir.Micros, n int64) []byte {
		b := binary.BigEndian.AppendUint64(nil, uint64(at)<<8)[:7]
		return append(b, byte(n>>16), byte(n>>8), byte(n))
	}
	head := func(used byte) []byte { return []byte{byte(m.Mark >> 8), byte(m.Mark), 0, 0, used} }
	for name, b := range map[string][]byte{
		"a run of nothing": append(head(0), run(epoch+weir.Year, 0)...),
		"runs in no order": append(append(head(2), run(epoch+1, 1)...), run(epoch, 1)...),
	} {
		var s algo.State
		if err := algo.ParseState(b, m, &s); err == nil {
			t.Errorf("%s: read as %s", name, dump(s))
		}
	}
}
