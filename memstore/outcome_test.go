package memstore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
)

func TestOutcomeRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	any64 := func() int64 { return int64(rng.Uint64()>>1) >> rng.IntN(63) }
	now := weir.Micros(testStart)
	var b []byte
	var want []weir.Outcome
	for i := range 1000 {
		o := weir.Outcome{
			OK: i%2 == 0, Granted: any64(), Remaining: any64(),
			ResetAfter: weir.Micros(any64()), RetryAfter: weir.Micros(any64()), Delay: weir.Micros(any64()),
			Before: weir.Usage{Used: any64(), Since: weir.Micros(any64())},
		}
		switch i % 5 {
		case 0:
			o.RetryAfter = weir.Never
		case 1:
			o.Before = weir.Usage{}
		case 2:
			o.ResetAfter, o.Before.Since = math.MinInt64, now
		}
		want = append(want, o)
		b = appendOutcome(b, &o, now)
	}
	for i := range want {
		var got weir.Outcome
		b = readOutcome(b, &got, now)
		if got != want[i] {
			t.Fatalf("outcome %d is %+v, want %+v", i, got, want[i])
		}
	}
	if len(b) != 0 {
		t.Errorf("%d bytes are left", len(b))
	}
}
