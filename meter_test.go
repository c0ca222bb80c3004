package weir_test

import (
	"math/big"
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// drawLimit draws from all that the bounds allow, and a burst that may not.
func drawLimit(t *rapid.T) weir.Limit {
	l := weir.Limit{
		Algorithm: weir.Algorithm(rapid.IntRange(1, 7).Draw(t, "algorithm")),
		Count: rapid.OneOf(rapid.SampledFrom([]int64{1, 2, 16, 17, 30_011, 700_001, 9_999_991, weir.MaxCount}),
			rapid.Int64Range(1, weir.MaxCount)).Draw(t, "count"),
	}
	seconds := rapid.OneOf(rapid.SampledFrom([]int64{1, 7, 60, 3600, 86_400, 31_535_999, 31_536_000}),
		rapid.Int64Range(1, 31_536_000)).Draw(t, "seconds")
	l.Window = weir.Micros(seconds) * weir.Second
	switch l.Algorithm {
	case weir.SlidingLog, weir.Concurrency:
		l.Count = 1 + l.Count%weir.MaxLogCount
	case weir.GCRA, weir.TokenBucket, weir.LeakyBucket:
		l.Burst = rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(1, weir.MaxCount)).Draw(t, "burst")
	}
	return l
}

// TestValidateAgreesWithRationals: a burst is refused if and only if it takes
// more than two years to drain.
func TestValidateAgreesWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLimit(t)
		drain := new(big.Rat).Mul(big.NewRat(int64(l.Window), l.Count), big.NewRat(l.Capacity(), 1))
		fits := drain.Cmp(big.NewRat(int64(weir.MaxHorizon), 1)) <= 0
		if err := l.Validate(); (err == nil) != fits {
			t.Fatalf("%v drains for %v us: %v", l, drain.FloatString(3), err)
		}
	})
}

func TestMeterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLimit(t)
		m, err := weir.NewMeter(l)
		if err != nil {
			t.Skip("a burst of more than two years")
		}
		interval := new(big.Rat).Add(big.NewRat(m.Whole, 1), big.NewRat(m.Rem, m.Den))
		if interval.Cmp(big.NewRat(int64(l.Window), l.Count)) != 0 {
			t.Fatalf("%v: an interval of %d + %d/%d us", l, m.Whole, m.Rem, m.Den)
		}
		if m.Rem < 0 || m.Rem >= m.Den || m.Den < 1 || m.Den > weir.MaxCount || m.Whole < 0 {
			t.Fatalf("%v: %d + %d/%d us is out of bounds", l, m.Whole, m.Rem, m.Den)
		}
		if new(big.Int).GCD(nil, nil, big.NewInt(m.Rem), big.NewInt(m.Den)).Int64() > 1 {
			t.Fatalf("%v: %d/%d is not in lowest terms", l, m.Rem, m.Den)
		}
		if m.Limit != l || m.Capacity != l.Capacity() || m.Shapes != (l.Algorithm == weir.LeakyBucket) {
			t.Fatalf("%v: %+v", l, m)
		}
		if m.UsedCap < m.Capacity || m.UsedCap > weir.MaxUsed {
			t.Fatalf("%v: capacity %d, holds %d", l, m.Capacity, m.UsedCap)
		}
		if weir.Machine(m.Mark>>14) != m.Machine {
			t.Fatalf("%v: machine %d, mark %b", l, m.Machine, m.Mark)
		}
		if m.Grid < 10*weir.Second || m.Grid%weir.Second != 0 || m.Grid > max(10*weir.Second, l.Window/8) {
			t.Fatalf("%v: a grid of %d us", l, m.Grid)
		}
	})
}

func TestMeterOfAMachine(t *testing.T) {
	for _, tt := range []struct {
		text    string
		machine weir.Machine
		runCap  int64
		maxRuns int
	}{
		{"10/s gcra", weir.Bucket, 0, 0},
		{"10/s token_bucket", weir.Bucket, 0, 0},
		{"10/s leaky_bucket", weir.Bucket, 0, 0},
		{"10/s fixed_window", weir.Window, 0, 0},
		{"1/s", weir.Runs, 1, 34},
		{"16/s", weir.Runs, 1, 34},
		{"17/s", weir.Runs, 2, 34},
		{"160/s", weir.Runs, 10, 34},
		{"161/s", weir.Runs, 11, 34},
		{"10000000/s", weir.Runs, 625_000, 34},
		{"1000/s sliding_log", weir.Runs, 1, 1000},
		{"10 concurrency 1s", weir.Slots, 1, 1000},
	} {
		l, err := weir.ParseLimit(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		m := weir.MustMeter(l)
		if m.Machine != tt.machine || m.RunCap != tt.runCap || m.MaxRuns != tt.maxRuns {
			t.Errorf("%s: machine %d, runs of %d, at most %d", tt.text, m.Machine, m.RunCap, m.MaxRuns)
		}
	}
}

// TestMarkNamesRateAndMachine: a burst leaves it, a rate or machine changes it.
func TestMarkNamesRateAndMachine(t *testing.T) {
	mark := func(text string) uint16 {
		l, err := weir.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		return weir.MustMeter(l).Mark
	}
	same := []string{"100/s gcra", "100/s burst 7", "100/s burst 200 token_bucket", "100/s leaky_bucket"}
	for _, text := range same {
		if mark(text) != mark(same[0]) {
			t.Errorf("%s and %s have two marks", text, same[0])
		}
	}
	seen := map[uint16]string{}
	for _, text := range []string{"100/s gcra", "101/s gcra", "100/2s gcra", "200/2s gcra", "100/s", "100/s fixed_window", "100 concurrency 1s"} {
		if other, dup := seen[mark(text)]; dup {
			t.Errorf("%s and %s have one mark", text, other)
		}
		seen[mark(text)] = text
	}
	// 14 bits for any number of rates: 2,000 of them should rarely meet.
	rates := map[uint16]int{}
	for count := int64(1); count <= 2000; count++ {
		rates[weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: count, Window: weir.Second}).Mark]++
	}
	if len(rates) < 1800 { // 1,884 are expected of a uniform hash
		t.Errorf("2000 rates have %d marks", len(rates))
	}
}

func TestMustMeterPanicsOnWhatIsInvalid(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || weir.CodeOf(err) != weir.CodeInvalid {
			t.Errorf("panicked with %v", err)
		}
	}()
	weir.MustMeter(weir.Limit{})
	t.Error("did not panic")
}
