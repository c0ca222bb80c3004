package loadgen

import (
	"math"
	"testing"
)

// Every rank is asked for as often as the definition says.
func TestZipfFollowsItsDefinition(t *testing.T) {
	const draws = 400_000
	for _, exponent := range []float64{0.5, 0.99, 1, 1.2, 2} {
		for _, n := range []uint64{1, 2, 10, 1000} {
			keys := Keys{Seed: 3, Count: n, Zipf: NewZipf(n, exponent)}
			counts := make([]int, n)
			for i := range int64(draws) {
				counts[keys.At(i)]++ // beyond n it panics
			}
			sum := 0.0
			for r := range n {
				sum += math.Pow(float64(r+1), -exponent)
			}
			for r := range n {
				want := draws * math.Pow(float64(r+1), -exponent) / sum
				if diff := math.Abs(float64(counts[r]) - want); diff > 5*math.Sqrt(want)+1 {
					t.Errorf("exponent %v, %d keys: rank %d was asked for %d times, want %.0f", exponent, n, r+1, counts[r], want)
				}
			}
		}
	}
}

func TestZipfOfMany(t *testing.T) {
	keys := Keys{Seed: 1, Count: 10_000_000, Zipf: NewZipf(10_000_000, 1)}
	first, most := 0, uint64(0)
	for i := range int64(100_000) {
		k := keys.At(i)
		if k == 0 {
			first++
		}
		most = max(most, k)
	}
	// The harmonic number of 10M is 16.7.
	if share := float64(first) / 100_000; share < 0.055 || share > 0.065 {
		t.Errorf("the first of 10M has a share of %v, want 0.06", share)
	}
	if most < 5_000_000 || most >= 10_000_000 {
		t.Errorf("the last key asked for is %d", most)
	}
}

func BenchmarkZipf(b *testing.B) {
	keys := Keys{Count: 10_000, Zipf: NewZipf(10_000, 1)}
	for i := range int64(b.N) {
		keys.At(i)
	}
}
