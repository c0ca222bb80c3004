package weir_test

import (
	"errors"
	"math"
	"testing"

	"github.com/weirlimit/weir"
)

// wantInvalid fails unless err is an *weir.Error of CodeInvalid for the field.
func wantInvalid(t *testing.T, what string, err error, field string) {
	t.Helper()
	e, ok := errors.AsType[*weir.Error](err)
	switch {
	case !ok:
		t.Errorf("%s: got %v, want an error for %s", what, err, field)
	case e.Code != weir.CodeInvalid || e.Field != field || e.Message == "":
		t.Errorf("%s: code %v, field %q, message %q; want invalid and %q", what, e.Code, e.Field, e.Message, field)
	}
}

func TestLimitValidateNamesTheField(t *testing.T) {
	gcra := func(count int64, window weir.Micros, burst int64) weir.Limit {
		return weir.Limit{Algorithm: weir.GCRA, Count: count, Window: window, Burst: burst}
	}
	for _, tt := range []struct {
		name  string
		limit weir.Limit
		field string
	}{
		{"the zero value", weir.Limit{}, "algorithm"},
		{"no algorithm", weir.Limit{Count: 1, Window: weir.Second}, "algorithm"},
		{"an algorithm that is none", weir.Limit{Algorithm: 8, Count: 1, Window: weir.Second}, "algorithm"},
		{"an algorithm far off", weir.Limit{Algorithm: 255, Count: 1, Window: weir.Second}, "algorithm"},
		{"a count of 0", gcra(0, weir.Second, 0), "count"},
		{"a count below 0", gcra(-1, weir.Second, 0), "count"},
		{"the least count", gcra(math.MinInt64, weir.Second, 0), "count"},
		{"a count too large", gcra(weir.MaxCount+1, weir.Second, 0), "count"},
		{"the most count", gcra(math.MaxInt64, weir.Second, 0), "count"},
		{"a log too large", weir.Limit{Algorithm: weir.SlidingLog, Count: 1001, Window: weir.Second}, "count"},
		{"too many at a time", weir.Limit{Algorithm: weir.Concurrency, Count: 1001, Window: weir.Second}, "count"},
		{"no window", gcra(1, 0, 0), "window"},
		{"a window below 0", gcra(1, -weir.Second, 0), "window"},
		{"a window too short", gcra(1, weir.Second-1, 0), "window"},
		{"a window too long", gcra(1, weir.Year+weir.Second, 0), "window"},
		{"the most window", gcra(1, math.MaxInt64, 0), "window"},
		{"part of a second", gcra(1, weir.Second+weir.Millisecond, 0), "window"},
		{"a burst below 0", gcra(1, weir.Second, -1), "burst"},
		{"a burst too large", gcra(weir.MaxCount, weir.Second, weir.MaxCount+1), "burst"},
		{"the most burst", gcra(1, weir.Second, math.MaxInt64), "burst"},
		{"a burst of three years", gcra(1, weir.Year, 3), "burst"},
		{"a burst of two years and a bit", gcra(1_000_000, weir.Year, 2_000_001), "burst"},
		{"a burst of a sliding window", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Second, Burst: 1}, "burst"},
		{"a burst of a fixed window", weir.Limit{Algorithm: weir.FixedWindow, Count: 1, Window: weir.Second, Burst: 1}, "burst"},
		{"a burst of a log", weir.Limit{Algorithm: weir.SlidingLog, Count: 1, Window: weir.Second, Burst: 1}, "burst"},
		{"a burst of concurrency", weir.Limit{Algorithm: weir.Concurrency, Count: 1, Window: weir.Second, Burst: -1}, "burst"},
	} {
		wantInvalid(t, tt.name, tt.limit.Validate(), tt.field)
		if m, err := weir.NewMeter(tt.limit); m != nil || err == nil {
			t.Errorf("%s: NewMeter gave %v, %v", tt.name, m, err)
		}
	}
}

func TestLimitValidateAcceptsTheBounds(t *testing.T) {
	for _, l := range []weir.Limit{
		{Algorithm: weir.GCRA, Count: 1, Window: weir.Second},
		{Algorithm: weir.GCRA, Count: 1, Window: weir.Year},
		{Algorithm: weir.GCRA, Count: 1, Window: weir.Year, Burst: 2},
		{Algorithm: weir.GCRA, Count: 1_000_000, Window: weir.Year, Burst: 2_000_000},
		{Algorithm: weir.TokenBucket, Count: weir.MaxCount, Window: weir.Second, Burst: weir.MaxCount},
		{Algorithm: weir.LeakyBucket, Count: weir.MaxCount, Window: weir.Year, Burst: weir.MaxCount},
		{Algorithm: weir.SlidingWindow, Count: weir.MaxCount, Window: weir.Year},
		{Algorithm: weir.FixedWindow, Count: weir.MaxCount, Window: weir.Year},
		{Algorithm: weir.SlidingLog, Count: weir.MaxLogCount, Window: weir.Year},
		{Algorithm: weir.Concurrency, Count: weir.MaxLogCount, Window: weir.Second},
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%v: %v", l, err)
		}
		if _, err := weir.NewMeter(l); err != nil {
			t.Errorf("%v: %v", l, err)
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, tt := range []struct {
		limit weir.Limit
		want  int64
	}{
		{weir.Limit{Algorithm: weir.GCRA, Count: 5, Window: weir.Second}, 5},
		{weir.Limit{Algorithm: weir.GCRA, Count: 5, Window: weir.Second, Burst: 1}, 1},
		{weir.Limit{Algorithm: weir.TokenBucket, Count: 5, Window: weir.Second, Burst: 50}, 50},
		{weir.Limit{Algorithm: weir.LeakyBucket, Count: 5, Window: weir.Second, Burst: 7}, 7},
		{weir.Limit{Algorithm: weir.SlidingWindow, Count: 5, Window: weir.Second, Burst: 7}, 5},
		{weir.Limit{Algorithm: weir.Concurrency, Count: 5, Window: weir.Second}, 5},
	} {
		if got := tt.limit.Capacity(); got != tt.want {
			t.Errorf("%v holds %d, want %d", tt.limit, got, tt.want)
		}
	}
}
