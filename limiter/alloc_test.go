package limiter

import (
	"context"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// plain is a store that admits all and allocates nothing.
type plain struct{ weir.Store }

func (plain) Decide(_ context.Context, b *weir.Batch) {
	for i := range b.Entries {
		e := &b.Entries[i]
		for range e.Charges {
			e.Outcomes = append(e.Outcomes, weir.Outcome{OK: true})
		}
		e.Admitted = true
	}
}

// TestRequestDoesNotAllocate leaves sync.Pool out, which under the race detector
// forgets on purpose. TestAllowDoesNotAllocate is the whole.
func TestRequestDoesNotAllocate(t *testing.T) {
	for _, l := range []*Limiter{
		newLimiter(t, memstore.New(), "10/s burst 5"),
		newLimiter(t, memstore.New(), "10/m"),
		newLimiter(t, plain{}, "10/s burst 5", "1000/m", "5/d fixed_window"),
	} {
		s := newScratch(len(l.counters))
		ask := Ask{Key: "tenant-0123456789abcdef0123456789", Cost: 1}
		d := weir.Decision{Charges: make([]weir.Charged, 0, len(l.counters))}
		request := func() {
			d.Charges = d.Charges[:0]
			if err := l.decideIn(ctx, s, &ask, &d, true); err != nil {
				t.Fatal(err)
			}
		}
		request()
		if n := testing.AllocsPerRun(1000, request); n != 0 {
			t.Errorf("%v: %v allocations", l.counters[0].meter.Limit, n)
		}
	}
}
