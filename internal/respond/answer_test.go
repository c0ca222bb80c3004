package respond_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

func least(int64) int64  { return 0 }
func most(n int64) int64 { return n - 1 }

func TestRetryAfter(t *testing.T) {
	deny := func(retry weir.Micros, reason weir.Reason) *weir.Decision {
		return &weir.Decision{Verdict: weir.Deny, Reason: reason, RetryAfter: retry}
	}
	for _, c := range []struct {
		name      string
		d         *weir.Decision
		low, high int64
	}{
		{"allowed", &weir.Decision{Verdict: weir.Allow}, 0, 0},
		{"undecided", &weir.Decision{RetryAfter: weir.Second}, 0, 0},
		{"can never pass", deny(weir.Never, weir.ReasonTooCostly), 0, 0},
		{"a microsecond", deny(1, weir.ReasonExhausted), 1, 2},
		{"a second", deny(weir.Second, weir.ReasonExhausted), 1, 2},
		{"a second and a microsecond", deny(weir.Second+1, weir.ReasonExhausted), 2, 4},
		{"two years", deny(2*weir.Year, weir.ReasonExhausted), 63072000, 126144000},
		{"fails closed", deny(0, weir.ReasonDegraded), 1, 2},
	} {
		if have := respond.RetryAfter(c.d, least); have != c.low {
			t.Errorf("%s: %d at least, want %d", c.name, have, c.low)
		}
		if have := respond.RetryAfter(c.d, most); have != c.high {
			t.Errorf("%s: %d at most, want %d", c.name, have, c.high)
		}
		if have := respond.RetryAfter(c.d, nil); have != c.low {
			t.Errorf("%s: %d without jitter, want %d", c.name, have, c.low)
		}
	}
}

// TestRetryAfterIsNeverEarly: whatever is drawn, also by a source that breaks
// its word.
func TestRetryAfterIsNeverEarly(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	seen := map[int64]int{}
	for range 2000 {
		d := &weir.Decision{Verdict: weir.Deny, RetryAfter: weir.Micros(source.Int64N(int64(weir.Hour)) + 1)}
		for _, draw := range []func(int64) int64{source.Int64N, func(int64) int64 { return -9 }, func(n int64) int64 { return 2 * n }} {
			have := weir.Micros(respond.RetryAfter(d, draw)) * weir.Second
			if have < d.RetryAfter || have > 2*(d.RetryAfter+weir.Second) {
				t.Fatalf("%d us for %d us", have, d.RetryAfter)
			}
		}
		three := &weir.Decision{Verdict: weir.Deny, RetryAfter: 3 * weir.Second}
		seen[respond.RetryAfter(three, source.Int64N)]++
	}
	for s := range int64(4) { // 2000 draws over 4 values: 500 each, give or take 20 (one sigma)
		if n := seen[3+s]; n < 380 || n > 620 {
			t.Errorf("%d s was drawn %d times of 2000", 3+s, n)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		d    weir.Decision
		want int
	}{
		{weir.Decision{Verdict: weir.Allow}, 200},
		{weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}, 200},
		{weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonExhausted}, 429},
		{weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonTooCostly, RetryAfter: weir.Never}, 429},
		{weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded}, 503},
		{weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonShed, RetryAfter: weir.Second}, 503},
		{weir.Decision{}, 500},
	} {
		if a := respond.To(&c.d, now, nil); a.Status() != c.want {
			t.Errorf("%+v: %d, want %d", c.d, a.Status(), c.want)
		}
	}
}

// The largest answer a busy edge gives: a denial by one of three windows.
func busy(t testing.TB) *weir.Decision {
	return denied(
		t, `tenant "é"`, "100/s burst 200", 10*weir.Millisecond,
		charged(t, `tenant "é"`, "100/s burst 200", false),
		charged(t, `tenant "é"`, "3000/m", true),
		charged(t, "uploads", "20 concurrency 30s", true),
	)
}

func TestNothingAllocates(t *testing.T) {
	d, draw := busy(t), rand.New(rand.NewPCG(1, 2)).Int64N
	var f respond.Fields
	var buf []byte
	var sum int
	if n := testing.AllocsPerRun(100, func() {
		a := respond.To(d, now, draw)
		a.Scope = "tenant"
		f.Fill(&a)
		for i := range f.Len() {
			_, value := f.Field(i)
			sum += len(value)
		}
		buf = a.AppendProblem(buf[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sum == 0 || len(buf) == 0 {
		t.Error("nothing was written")
	}
}

func BenchmarkFields(b *testing.B) {
	d := busy(b)
	var f respond.Fields
	b.ReportAllocs()
	for b.Loop() {
		a := respond.To(d, now, most)
		f.Fill(&a)
	}
}

func BenchmarkProblem(b *testing.B) {
	a := respond.To(busy(b), now, most)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = a.AppendProblem(buf[:0])
	}
}
