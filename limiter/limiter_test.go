package limiter

import (
	"errors"
	"testing"

	"github.com/weirlimit/weir"
)

func TestNewNamesTheFieldAtFault(t *testing.T) {
	good := limits(t, "100/s burst 200", "1000/d")
	bad := good[1]
	bad.Count = 0
	tooMany := make([]weir.Limit, weir.MaxCharges+1)
	for _, tc := range []struct {
		name   string
		store  weir.Store
		rule   string
		limits []weir.Limit
		field  string
	}{
		{"no store", nil, "login", good, "store"},
		{"no name", newFake(), "", good, "name"},
		{"no limits", newFake(), "login", nil, "limits"},
		{"too many limits", newFake(), "login", tooMany, "limits"},
		{"bad limit", newFake(), "login", []weir.Limit{good[0], bad}, "limits[1].count"},
		{"zero limit", newFake(), "login", []weir.Limit{{}}, "limits[0].algorithm"},
		{"same counter twice", newFake(), "login", limits(t, "1/s", "2/m", "3/s"), "limits[2].window"},
		{"same counter by two names", newFake(), "login", limits(t, "1/s burst 2", "3/s token_bucket"), "limits[1].window"},
	} {
		l, err := New(tc.store, tc.rule, tc.limits...)
		var e *weir.Error
		if !errors.As(err, &e) || e.Code != weir.CodeInvalid || e.Field != tc.field || l != nil {
			t.Errorf("%s: New = %v, %v; want field %s", tc.name, l, err, tc.field)
		}
	}
}

func TestNewAcceptsOneWindowUnderTwoAlgorithms(t *testing.T) {
	l, err := New(newFake(), "login", limits(t, "1/s", "1/s fixed_window", "1/s burst 1", "1 concurrency s")...)
	if err != nil || l.Name() != "login" {
		t.Errorf("New = %v, %v", l, err)
	}
}
