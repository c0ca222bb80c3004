package obs

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// naive is the bucket of v, by search.
func naive(bounds []int64, v int64) int {
	return slices.IndexFunc(bounds, func(b int64) bool { return v <= b })
}

func TestBucketsAreThoseOfASearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []shape{durations, sizes} {
		values := []int64{0, 1, maxValue, maxValue - 1}
		for _, b := range s.bounds {
			values = append(values, b-1, b, b+1, 2*b, 2*b-1)
		}
		for range 2000 {
			values = append(values, rng.Int64N(int64(1)<<rng.IntN(32)+1))
		}
		for _, v := range values {
			h := newHistogram(s, 1)
			h.observe(v, 0)
			totals := h.read()
			for i, got := range totals {
				want := tally{}
				if i == naive(h.bounds, v) {
					want = tally{1, uint64(v)}
				}
				if got != want {
					t.Fatalf("%d: bucket %d has %+v, want %+v", v, i, got, want)
				}
			}
		}
	}
}

// observe looks at the bounds of one bit length, one after the other.
func TestBoundsAreFarEnoughApart(t *testing.T) {
	for _, s := range []shape{durations, sizes} {
		if len(s.bounds) >= maxBuckets || !slices.IsSorted(s.bounds) {
			t.Errorf("%d bounds: %v", len(s.bounds), s.bounds)
		}
		for i := 2; i < len(s.bounds); i++ {
			if s.bounds[i] < 2*s.bounds[i-2] {
				t.Errorf("%d, %d and %d are too near each other", s.bounds[i-2], s.bounds[i-1], s.bounds[i])
			}
		}
	}
}

func TestValuesOutOfRange(t *testing.T) {
	h := newHistogram(durations, 4)
	h.observe(-5, 1)
	h.observe(math.MinInt64, 2)
	h.observe(math.MaxInt64, 3)
	totals := h.read()
	if totals[0] != (tally{2, 0}) || totals[len(durations.bounds)] != (tally{1, maxValue}) {
		t.Errorf("%+v", totals)
	}
}

// Cells that fill up lose nothing, though nobody reads.
func TestFullCells(t *testing.T) {
	h := newHistogram(sizes, 1)
	const almost = 1<<(countBits-1) - 2 // a count just below half a cell
	h.stripes[0][2].Store(3*almost<<countBits | almost)
	for range 5 {
		h.observe(3, 0)
	}
	if held := h.stripes[0][2].Load() & (1<<countBits - 1); held != 3 {
		t.Errorf("%d are held in the cell after it was half full, want 3", held)
	}
	for range 3000 { // 3.5 hours in all, of 37 minutes that are half a cell
		h.observe(maxValue, 0)
	}
	totals := h.read()
	if totals[2] != (tally{almost + 5, 3 * (almost + 5)}) || totals[len(sizes.bounds)] != (tally{3000, 3000 * maxValue}) {
		t.Errorf("%+v", totals)
	}
}

func TestReadingWhileObserving(t *testing.T) {
	h := newHistogram(durations, 2)
	const workers, each = 4, 20_000
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range each {
				h.observe(maxValue, uint32(w))
			}
		})
	}
	var last uint64
	for range 50 {
		now := h.count()
		if now < last {
			t.Errorf("the count went from %d to %d", last, now)
		}
		last = now
	}
	wg.Wait()
	if got := h.read()[len(durations.bounds)]; got != (tally{workers * each, workers * each * maxValue}) {
		t.Errorf("%+v", got)
	}
}

func TestExportIsCumulative(t *testing.T) {
	h := newHistogram(sizes, 2)
	for v := range int64(10) {
		h.observe(v, uint32(v))
	}
	h.observe(5000, 0)
	var out dto.Metric
	if err := h.export(batchKeys).Write(&out); err != nil {
		t.Fatal(err)
	}
	got := out.GetHistogram()
	if got.GetSampleCount() != 11 || got.GetSampleSum() != 5045 {
		t.Errorf("count %d, sum %v", got.GetSampleCount(), got.GetSampleSum())
	}
	for i, want := range []uint64{2, 3, 5, 9, 10, 10} {
		if b := got.GetBucket()[i]; b.GetCumulativeCount() != want {
			t.Errorf("up to %v: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want)
		}
	}
}
