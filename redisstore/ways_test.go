package redisstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// A way is how a batch gets the script to decide a charge by one of its ways.
type way struct {
	name string
	// company is what stands in the entry beside the charge, and what other
	// entries the batch has.
	company []weir.Charge
	others  []weir.Entry
}

var ways = func() []way {
	company := weir.Charge{Key: "company", Meter: still(1_000_000), Cost: 1}
	peek := company
	peek.Mode, peek.Cost = weir.Peek, 0
	return []way{
		{name: "alone"},
		{name: "own", company: []weir.Charge{company}},
		{name: "plain", company: []weir.Charge{company}, others: []weir.Entry{{Charges: []weir.Charge{company}}}},
		{name: "general", company: []weir.Charge{peek}},
	}
}()

// The script has several ways to decide what is asked most: what it answers,
// stores and lets expire is the same by each, byte for byte.
func TestWaysAgree(t *testing.T) {
	srv := redistest.Start(t)
	now := weir.MicrosAt(time.Now().Add(time.Hour)) // so that nothing expires while the test runs
	s := open(t, WithClock(Options{Addrs: []string{srv.Addr()}}, func() weir.Micros { return now }))
	rnd := rand.New(rand.NewPCG(5, 6))
	clean := []string{"DEL"}
	for _, w := range ways {
		clean = append(clean, w.name)
	}
	for _, l := range everyAlgorithm {
		m := weir.MustMeter(l)
		if m.Machine == weir.Slots {
			continue // needs an id, and so goes the general way
		}
		srv.MustDo(clean...)
		for i := range 160 {
			// First states, then values that are none, then more in a window than it
			// has runs for.
			damaged, crowd := i >= 60 && i < 100, i >= 100
			if i == 100 {
				srv.MustDo(clean...)
			}
			pace := int64(l.Window) / 8
			if crowd {
				pace = int64(l.Window) / 100
			}
			now += weir.Micros(rnd.Int64N(pace + 2))
			if rnd.IntN(10) == 0 {
				now -= weir.Micros(rnd.Int64N(int64(l.Window)/16 + 2)) // clocks do
			}
			if damaged {
				value := []byte(randomState(rnd, m))
				if m.Machine == weir.Runs && rnd.IntN(3) == 0 { // a run of nothing, or one that is stored as if it were not alone
					units := byte(rnd.IntN(2))
					value = append56([]byte{byte(m.Mark >> 8), byte(m.Mark), 0, 0, units}, int64(now)-1)
					if units > 0 {
						value = append24(value, int64(units))
					}
				}
				if len(value) > 5 {
					value[5] &= 0x1f // an instant that a script could have written
				}
				for _, w := range ways {
					srv.MustDo("SET", w.name, string(value))
				}
			}
			c := weir.Charge{Meter: m, Cost: 1 + rnd.Int64N(m.Capacity/4+2)}
			if crowd || rnd.IntN(3) == 0 {
				c.Mode = weir.Always
			}
			if crowd {
				c.Cost = m.RunCap + 1
			}
			n := 1
			if !damaged {
				n += rnd.IntN(4)
			}
			planted, _ := srv.MustDo("GET", "alone").(string)
			step := fmt.Sprintf("%s, step %d at %d, on %s", l, i, now, hex.EncodeToString([]byte(planted)))
			var first []weir.Entry
			for _, w := range ways {
				got := w.decide(s, c, n)
				if first == nil {
					first = got
				}
				for j := range got {
					a, o := &first[j], &got[j]
					if a.Err != nil || o.Err != nil || a.Admitted != o.Admitted || a.Outcomes[0] != o.Outcomes[0] {
						t.Fatalf("%s: alone %+v, %s %+v", step, a, w.name, o)
					}
				}
				for _, get := range []string{"GET", "PEXPIRETIME"} {
					if alone, other := srv.MustDo(get, "alone"), srv.MustDo(get, w.name); alone != other {
						t.Fatalf("%s: %s of alone is %x, of %s %x", step, get, alone, w.name, other)
					}
				}
			}
		}
	}
}

// decide asks n times for c in one batch, and returns what was decided in the
// order of what is left: of equal requests any may be the first.
func (w way) decide(s *Store, c weir.Charge, n int) []weir.Entry {
	c.Key = w.name
	var b weir.Batch
	for range n {
		b.Entries = append(b.Entries, weir.Entry{Charges: append([]weir.Charge{c}, w.company...)})
	}
	b.Entries = append(b.Entries, w.others...)
	s.Decide(context.Background(), &b)
	slices.SortStableFunc(b.Entries[:n], byRemaining)
	return b.Entries[:n]
}

// byRemaining orders what was decided: the first has most left, or most before.
func byRemaining(a, b weir.Entry) int {
	if a.Err != nil || b.Err != nil {
		return 0
	}
	x, y := &a.Outcomes[0], &b.Outcomes[0]
	return cmp.Or(cmp.Compare(y.Remaining, x.Remaining), cmp.Compare(x.Before.Used, y.Before.Used))
}
