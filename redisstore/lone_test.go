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

// The script decides a request that is alone by a shorter way than one in
// company: what it answers, stores and lets expire is the same, byte for byte.
func TestAloneEqualsInCompany(t *testing.T) {
	srv := redistest.Start(t)
	now := weir.MicrosAt(time.Now().Add(time.Hour)) // so that nothing expires while the test runs
	s := open(t, WithClock(Options{Addrs: []string{srv.Addr()}}, func() weir.Micros { return now }))
	rnd := rand.New(rand.NewPCG(5, 6))
	company := weir.Charge{Key: "company", Meter: still(1_000_000), Cost: 1}
	compare := func(step string, get ...string) {
		t.Helper()
		alone, other := srv.MustDo(append(get, "alone")...), srv.MustDo(append(get, "other")...)
		if alone != other {
			t.Fatalf("%s: %v of the one alone is %x, in company %x", step, get, alone, other)
		}
	}
	for _, l := range everyAlgorithm {
		m := weir.MustMeter(l)
		if m.Machine == weir.Slots {
			continue // needs an id, and so goes the long way
		}
		srv.MustDo("DEL", "alone", "other")
		for i := range 160 {
			// First states, then values that are none, then more in a window than it
			// has runs for.
			damaged, crowd := i >= 60 && i < 100, i >= 100
			if i == 100 {
				srv.MustDo("DEL", "alone", "other")
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
				value := randomState(rnd, m)
				srv.MustDo("MSET", "alone", value, "other", value)
			}
			c := weir.Charge{Key: "alone", Meter: m, Cost: 1 + rnd.Int64N(m.Capacity/4+2)}
			if crowd || rnd.IntN(3) == 0 {
				c.Mode = weir.Always
			}
			if crowd {
				c.Cost = m.RunCap + 1
			}
			var alone, other weir.Batch
			same, n := c, 1
			same.Key = "other"
			if !damaged {
				n += rnd.IntN(4)
			}
			for range n {
				alone.Entries = append(alone.Entries, weir.Entry{Charges: []weir.Charge{c}})
				other.Entries = append(other.Entries, weir.Entry{Charges: []weir.Charge{same, company}})
			}
			planted, _ := srv.MustDo("GET", "alone").(string)
			s.Decide(context.Background(), &alone)
			s.Decide(context.Background(), &other)
			step := fmt.Sprintf("%s, step %d at %d, on %s", l, i, now, hex.EncodeToString([]byte(planted)))
			// Of equal requests any may be the first.
			slices.SortStableFunc(alone.Entries, byRemaining)
			slices.SortStableFunc(other.Entries, byRemaining)
			for j := range alone.Entries {
				a, o := &alone.Entries[j], &other.Entries[j]
				if a.Err != nil || o.Err != nil || a.Admitted != o.Admitted || a.Outcomes[0] != o.Outcomes[0] {
					t.Fatalf("%s: %+v, in company %+v", step, a, o)
				}
			}
			compare(step, "GET")
			compare(step, "PEXPIRETIME")
		}
	}
}

// byRemaining orders what was decided: the first has most left, or most before.
func byRemaining(a, b weir.Entry) int {
	if a.Err != nil || b.Err != nil {
		return 0
	}
	x, y := &a.Outcomes[0], &b.Outcomes[0]
	return cmp.Or(cmp.Compare(y.Remaining, x.Remaining), cmp.Compare(x.Before.Used, y.Before.Used))
}
