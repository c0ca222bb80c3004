package weir_test

import (
	"math"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestMicrosOfRoundsUp(t *testing.T) {
	for d, want := range map[time.Duration]weir.Micros{
		0: 0, 1: 1, 999: 1, 1000: 1, 1001: 2, time.Second: weir.Second, time.Second + 1: weir.Second + 1,
		-1: 0, -999: 0, -1000: -1, -1001: -1, -2000: -2,
		math.MaxInt64: math.MaxInt64/1000 + 1, math.MinInt64: math.MinInt64 / 1000,
	} {
		if got := weir.MicrosOf(d); got != want {
			t.Errorf("%d ns is %d us, want %d", d, got, want)
		}
	}
}

func TestMicrosAndTime(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 30, 15, 123_456_789, time.UTC)
	m := weir.MicrosAt(at)
	if m != 1_782_909_015_123_456 {
		t.Errorf("%v is %d us", at, m)
	}
	if back := m.Time(); !back.Equal(at.Truncate(time.Microsecond)) {
		t.Errorf("%d us is %v", m, back)
	}
	if early := weir.MicrosAt(time.Unix(-1, 0)); early != -weir.Second || !early.Time().Equal(time.Unix(-1, 0)) {
		t.Errorf("before 1970: %d us", early)
	}
	if weir.Micros(0).Time().Unix() != 0 {
		t.Error("instants do not count from the epoch")
	}
}

func TestDurationDoesNotOverflow(t *testing.T) {
	const most = math.MaxInt64 / 1000
	for m, want := range map[weir.Micros]time.Duration{
		0: 0, 1: time.Microsecond, -1: -time.Microsecond, weir.Year: 365 * 24 * time.Hour,
		most: most * 1000, most + 1: math.MaxInt64, weir.Never: math.MaxInt64,
		-most: -most * 1000, -most - 1: math.MinInt64, math.MinInt64: math.MinInt64,
	} {
		if got := m.Duration(); got != want {
			t.Errorf("%d us is %d ns, want %d", m, got, want)
		}
	}
}

func TestSecondsRoundUp(t *testing.T) {
	for m, want := range map[weir.Micros]int64{
		0: 0, -1: 0, math.MinInt64: 0, 1: 1, 999_999: 1, weir.Second: 1, weir.Second + 1: 2, weir.Day: 86_400,
		weir.Never: math.MaxInt64/1_000_000 + 1,
	} {
		if got := m.Seconds(); got != want {
			t.Errorf("%d us is %d s, want %d", m, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for m, want := range map[weir.Micros]time.Duration{
		weir.Microsecond: time.Microsecond, weir.Millisecond: time.Millisecond, weir.Second: time.Second, weir.Minute: time.Minute,
		weir.Hour: time.Hour, weir.Day: 24 * time.Hour, weir.Week: 168 * time.Hour, weir.Month: 720 * time.Hour, weir.Year: 8760 * time.Hour,
	} {
		if m.Duration() != want {
			t.Errorf("%d us is %v, want %v", m, m.Duration(), want)
		}
	}
}
