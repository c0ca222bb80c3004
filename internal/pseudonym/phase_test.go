package pseudonym_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

func TestPhases(t *testing.T) {
	const d, turn = weir.Minute, 30 * weir.Minute
	r := ring(t, config(0, turn, turn+5*weir.Hour))
	for _, tc := range []struct {
		at, horizon weir.Micros
		key, twin   int
		want        weir.Twinning
	}{
		{-weir.Day, weir.Hour, 0, -1, weir.TwinNone}, // the eldest was always in force
		{0, weir.Hour, 0, -1, weir.TwinNone},
		{turn - d - 1, weir.Hour, 0, -1, weir.TwinNone},
		{turn - d, weir.Hour, 0, 1, weir.TwinNext},
		{turn - 1, weir.Hour, 0, 1, weir.TwinNext},
		{turn, weir.Hour, 1, 0, weir.TwinLast},
		{turn + d - 1, weir.Hour, 1, 0, weir.TwinLast},
		{turn + d, weir.Hour, 1, 0, weir.TwinOld},
		{turn + 2*d + weir.Hour - 1, weir.Hour, 1, 0, weir.TwinOld},
		{turn + 2*d + weir.Hour, weir.Hour, 1, 0, weir.TwinNone},
		{turn + 2*d + weir.Hour, weir.Hour + 1, 1, 0, weir.TwinOld},
		// Request ids are remembered for ten minutes, however short the window.
		{turn + 2*d + 10*weir.Minute - 1, weir.Second, 1, 0, weir.TwinOld},
		{turn + 2*d + 10*weir.Minute, weir.Second, 1, 0, weir.TwinNone},
		// A window beyond the retention keeps its old name until the next turn.
		{turn + 5*weir.Hour - d - 1, weir.Year, 1, 0, weir.TwinOld},
		{turn + 5*weir.Hour - d, weir.Year, 1, 2, weir.TwinNext},
		{turn + 5*weir.Hour, weir.Year, 2, 1, weir.TwinLast},
		{weir.Year, weir.Hour, 2, 1, weir.TwinNone},
	} {
		p := r.At(epoch + tc.at)
		if got := p.Twinning(tc.horizon); p.Key != tc.key || p.Twin != tc.twin || got != tc.want {
			t.Errorf("at %v, horizon %v: salts %d and %d, twinning %d, want %+v", tc.at, tc.horizon, p.Key, p.Twin, got, tc)
		}
	}
	if p := pseudonym.Unsalted().At(epoch); p.Key != 0 || p.Twin != -1 || p.Twinning(weir.Year) != weir.TwinNone {
		t.Errorf("unsalted: %+v", p)
	}
}
