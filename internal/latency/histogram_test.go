package latency

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A quantile is within a sixty-fourth of the one that sorting finds.
func TestQuantileAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	all := make([]time.Duration, 0, 10_000)
	for range cap(all) {
		d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
		h.Record(d)
		all = append(all, d)
	}
	slices.Sort(all)
	if got, want := h.Max(), all[len(all)-1]; got != want || h.Quantile(1) > want {
		t.Errorf("Max() = %v, Quantile(1) = %v, want %v", got, h.Quantile(1), want)
	}
	sum := time.Duration(0)
	for _, d := range all {
		sum += d
	}
	if got, want := h.Mean(), sum/time.Duration(len(all)); got != want {
		t.Errorf("Mean() = %v, want %v", got, want)
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[min(int(q*float64(len(all))), len(all)-1)]
		got := h.Quantile(q)
		if diff := (got - want).Abs(); diff > want/64+1 {
			t.Errorf("Quantile(%v) = %v, want %v within 1/64", q, got, want)
		}
		above := func(d time.Duration) int {
			i, _ := slices.BinarySearch(all, d)
			return len(all) - i
		}
		if n := int(h.Above(want)); n > above(want) || n < above(want+want/16) {
			t.Errorf("Above(%v) = %d, want %d to %d", want, n, above(want+want/16), above(want))
		}
	}
}

func TestBucketsCoverEveryLatencyInOrder(t *testing.T) {
	last := -1
	for v := time.Duration(0); v < 1<<maxBits; v += max(1, v/100) {
		b := bucketOf(v)
		if b < last || b >= buckets {
			t.Fatalf("bucketOf(%d) = %d after %d, of %d", v, b, last, buckets)
		}
		if mid := middleOf(b); (mid - v).Abs() > v/32 {
			t.Fatalf("middle of the bucket of %d is %d", v, mid)
		}
		last = b
	}
	if got := bucketOf(1 << 62); got != buckets-1 {
		t.Errorf("bucketOf(2^62) = %d, want the last bucket %d", got, buckets-1)
	}
	if got := bucketOf(-1); got != 0 {
		t.Errorf("bucketOf(-1) = %d, want 0", got)
	}
}

func TestMerge(t *testing.T) {
	var a, b, none Histogram
	if got := none.Quantile(0.5) + none.Mean() + none.Max(); got != 0 {
		t.Errorf("quantile, mean and maximum of nothing = %v, want 0", got)
	}
	for range 3 {
		a.Record(10)
	}
	b.Record(20)
	a.Merge(&b)
	if a.Count() != 4 {
		t.Errorf("count after merge = %d, want 4", a.Count())
	}
	if got := a.Quantile(0.5); got != 10 {
		t.Errorf("median after merge = %v, want 10ns", got)
	}
	if q, m := a.Quantile(1), a.Max(); q != 20 || m != 20 {
		t.Errorf("maximum after merge = %v and %v, want 20ns", q, m)
	}
	if got := a.Mean(); got != 12 { // 50 / 4
		t.Errorf("mean after merge = %v, want 12ns", got)
	}
}
