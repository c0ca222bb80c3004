package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// A batch of requests of many shapes, on keys of their own and on shared ones, over
// and below their limits, gives what its entries give one after the other, and
// leaves the same behind.
func TestBlocksEqualOneByOne(t *testing.T) {
	srv := redistest.Start(t)
	now := weir.MicrosAt(time.Now().Add(time.Hour))
	clock := func() weir.Micros { return now }
	var lost losses
	together := open(t, WithClock(Options{Addrs: []string{srv.Addr()}, Prefix: "a:", Hooks: lost.hooks()}, clock))
	alone := open(t, WithClock(Options{Addrs: []string{srv.Addr()}, Prefix: "b:", Hooks: lost.hooks()}, clock))
	var meters []*weir.Meter
	for _, l := range everyAlgorithm {
		if m := weir.MustMeter(l); m.Machine != weir.Slots {
			meters = append(meters, m, weir.MustMeter(weir.Limit{Algorithm: l.Algorithm, Count: 3, Window: l.Window}))
		}
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 150 {
		now += weir.Micros(rnd.Int64N(int64(weir.Second)))
		if round%8 == 7 {
			now += weir.Micros(rnd.Int64N(int64(2 * weir.Minute)))
		}
		batch := randomShapes(rnd, meters)
		one := make([]weir.Entry, len(batch.Entries))
		for i := range one {
			one[i] = decide(alone, weir.Entry{Charges: batch.Entries[i].Charges})
		}
		together.Decide(context.Background(), &batch)
		for i := range one {
			a, o := &batch.Entries[i], &one[i]
			if a.Err != nil || o.Err != nil || a.Admitted != o.Admitted {
				t.Fatalf("round %d, entry %d: together %+v, alone %+v", round, i, a, o)
			}
			for j := range a.Outcomes {
				if a.Outcomes[j] != o.Outcomes[j] {
					t.Fatalf("round %d, entry %d, charge %d: together %+v, alone %+v", round, i, j, a.Outcomes[j], o.Outcomes[j])
				}
			}
		}
		for _, e := range batch.Entries {
			for _, c := range e.Charges {
				x, y := srv.MustDo("GET", "a:"+c.Key), srv.MustDo("GET", "b:"+c.Key)
				if x != y {
					t.Fatalf("round %d: %s holds %x, one by one %x", round, c.Key, x, y)
				}
				x, y = srv.MustDo("PEXPIRETIME", "a:"+c.Key), srv.MustDo("PEXPIRETIME", "b:"+c.Key)
				if x != y {
					t.Fatalf("round %d: %s expires at %v, one by one %v", round, c.Key, x, y)
				}
			}
		}
	}
	if n := lost.of(weir.LossCorruptState); n != 0 {
		t.Errorf("the script and the store disagreed %d times", n)
	}
}

// randomShapes is a batch of entries of a few shapes. A key goes with a meter, so
// that states keep their limit.
func randomShapes(rnd *rand.Rand, meters []*weir.Meter) weir.Batch {
	shapes := make([][]weir.Charge, 1+rnd.IntN(4))
	for i := range shapes {
		if i > 0 && rnd.IntN(2) == 0 { // nearly the same
			shapes[i] = slices.Clone(shapes[0])
			if c := &shapes[i][rnd.IntN(len(shapes[i]))]; rnd.IntN(2) == 0 {
				c.Mode = weir.Always - c.Mode
			} else {
				c.Cost = 3 - c.Cost
			}
			continue
		}
		for range 1 + rnd.IntN(3) {
			c := weir.Charge{Meter: meters[rnd.IntN(len(meters))], Cost: 1 + rnd.Int64N(2)}
			if rnd.IntN(4) == 0 {
				c.Mode = weir.Always
			}
			shapes[i] = append(shapes[i], c)
		}
	}
	var b weir.Batch
	for i := range 1 + rnd.IntN(12) {
		e := weir.Entry{}
		for j, c := range shapes[rnd.IntN(len(shapes))] {
			name := fmt.Sprint(i)
			switch rnd.IntN(12) {
			case 0:
				name = "shared"
			case 1, 2:
				name = "twice" + fmt.Sprint(i/2)
			}
			c.Key = fmt.Sprintf("%s/%d/%s", name, j, c.Meter.Limit)
			e.Charges = append(e.Charges, c)
		}
		for range 1 + rnd.IntN(3)/2*rnd.IntN(5) {
			b.Entries = append(b.Entries, e)
		}
	}
	return b
}
