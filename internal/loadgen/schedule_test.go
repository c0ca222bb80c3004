package loadgen

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	for _, tc := range []struct {
		rate  int64
		span  time.Duration
		total int64
		last  time.Duration // when the last is due
	}{
		{1, time.Second, 1, 0},
		{1, 1500 * time.Millisecond, 2, time.Second},
		{1000, time.Second, 1000, 999 * time.Millisecond},
		{3, time.Second, 3, 666_666_666},
		{1_000_000, 24 * time.Hour, 86_400_000_000, 24*time.Hour - time.Microsecond},
	} {
		s := Schedule{tc.rate, tc.span}
		if got := s.Total(); got != tc.total {
			t.Errorf("%v: total = %d, want %d", s, got, tc.total)
		}
		if got := s.At(s.Total() - 1); got != tc.last {
			t.Errorf("%v: the last is due at %v, want %v", s, got, tc.last)
		}
		if got := s.Due(tc.span * 2); got != tc.total {
			t.Errorf("%v: due after the end = %d, want %d", s, got, tc.total)
		}
	}
}

// Due is the count of those with At <= t, at any instant and rate.
func TestDueAgreesWithAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		s := Schedule{1 + rng.Int64N(1e6), time.Hour}
		i := rng.Int64N(s.Total())
		if got := s.Due(s.At(i)); got < i+1 {
			t.Fatalf("%v: due at %v = %d, though %d is due", s, s.At(i), got, i)
		}
		if got := s.Due(s.At(i) - 1); got > i {
			t.Fatalf("%v: due before %v = %d, though %d is not", s, s.At(i), got, i)
		}
	}
}

func TestKeys(t *testing.T) {
	const n = 100_000
	for _, tc := range []struct {
		name string
		keys Keys
		hot  float64 // share of key 0
	}{
		{"one", Keys{Seed: 1}, 1},
		{"uniform", Keys{Seed: 1, Count: 10}, 0.1},
		{"flood", Keys{Seed: 1, Count: 10, Hot: 0.9}, 0.91},
		{"only hot", Keys{Seed: 1, Count: 10, Hot: 1}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			counts := map[uint64]int{}
			for i := range int64(n) {
				k := tc.keys.At(i)
				if k >= max(tc.keys.Count, 1) || k != tc.keys.At(i) {
					t.Fatalf("key %d of request %d", k, i)
				}
				counts[k]++
			}
			if got := float64(counts[0]) / n; got < tc.hot-0.01 || got > tc.hot+0.01 {
				t.Errorf("share of key 0 = %v, want %v", got, tc.hot)
			}
			if rest := (1 - tc.hot) * n / 9; counts[9] < int(rest*0.9) || counts[9] > int(rest*1.1)+1 {
				t.Errorf("key 9 was asked for %d times, want about %.0f", counts[9], rest)
			}
		})
	}
	if (Keys{Seed: 1, Count: 1 << 40}).At(7) == (Keys{Seed: 2, Count: 1 << 40}).At(7) {
		t.Error("two seeds ask for the same")
	}
}
