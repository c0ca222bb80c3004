package weir_test

import (
	"testing"

	"github.com/weirlimit/weir"
)

func TestBinding(t *testing.T) {
	type (
		charges  = []weir.Charge
		outcomes = []weir.Outcome
	)
	enforce, shadow, refund := weir.Charge{}, weir.Charge{Mode: weir.Shadow}, weir.Charge{Mode: weir.Refund}
	for _, tt := range []struct {
		name     string
		charges  charges
		admitted bool
		outcomes outcomes
		want     int
	}{
		{"no outcomes", charges{enforce}, true, nil, -1},
		{"one", charges{enforce}, true, outcomes{{OK: true, Remaining: 5}}, 0},
		{"the least left", charges{enforce, enforce, enforce}, true, outcomes{{OK: true, Remaining: 5}, {OK: true, Remaining: 2}, {OK: true, Remaining: 3}}, 1},
		{"the first of equals", charges{enforce, enforce}, true, outcomes{{OK: true, Remaining: 2}, {OK: true, Remaining: 2}}, 0},
		{"not a shadow", charges{shadow, enforce}, true, outcomes{{Remaining: 0}, {OK: true, Remaining: 9}}, 1},
		{"not a refund", charges{refund, enforce}, true, outcomes{{OK: true, Remaining: 1}, {OK: true, Remaining: 9}}, 1},
		{"shadows only", charges{shadow, shadow}, true, outcomes{{Remaining: 3}, {Remaining: 2}}, 0},
		{"the one that denied", charges{enforce, enforce}, false, outcomes{{OK: true, Remaining: 0}, {RetryAfter: 5, Remaining: 3}}, 1},
		{"the one that denies longest", charges{enforce, enforce, enforce}, false, outcomes{{RetryAfter: 5}, {RetryAfter: 9}, {RetryAfter: 7}}, 1},
		{"the one that never passes", charges{enforce, enforce}, false, outcomes{{RetryAfter: 5}, {RetryAfter: weir.Never}}, 1},
		{"no shadow denied", charges{shadow, enforce}, false, outcomes{{RetryAfter: 50}, {RetryAfter: 5}}, 1},
		{"a peek denied", charges{enforce, {Mode: weir.Peek}}, false, outcomes{{OK: true}, {RetryAfter: 5}}, 1},
		{"always denied", charges{{Mode: weir.Always}, enforce}, false, outcomes{{RetryAfter: 5}, {OK: true}}, 0},
	} {
		e := weir.Entry{Charges: tt.charges, Admitted: tt.admitted, Outcomes: tt.outcomes}
		if got := e.Binding(); got != tt.want {
			t.Errorf("%s: charge %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestBindingOfGroups(t *testing.T) {
	type (
		charges  = []weir.Charge
		outcomes = []weir.Outcome
	)
	one, alone := weir.Charge{Group: 1}, weir.Charge{}
	for _, tt := range []struct {
		name     string
		charges  charges
		admitted bool
		outcomes outcomes
		want     int
	}{
		{"a group with room did not deny", charges{one, one, alone}, false, outcomes{{RetryAfter: 9}, {OK: true}, {RetryAfter: 5}}, 2},
		{"a denied group passes with its first", charges{one, one}, false, outcomes{{RetryAfter: 9}, {RetryAfter: 5}}, 1},
		{"a group lasts as its member with most left", charges{one, one}, true, outcomes{{Remaining: 0}, {OK: true, Remaining: 7}}, 1},
	} {
		e := weir.Entry{Charges: tt.charges, Admitted: tt.admitted, Outcomes: tt.outcomes}
		if got := e.Binding(); got != tt.want {
			t.Errorf("%s: charge %d, want %d", tt.name, got, tt.want)
		}
	}
}
