package chaos

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestAccountFair(t *testing.T) {
	const s = time.Second
	// Ten seconds: 60 units, less one and more one.
	span := account{firstAsked: 0, firstAnswer: 10 * time.Millisecond, lastAsked: 10 * s, lastAnswer: 10*s + 10*time.Millisecond}
	for _, tc := range []struct {
		name            string
		kind            string
		allowed, denied int
		fair            bool
	}{
		{"exactly", "tight", 60, 100, true},
		{"the least", "tight", 58, 100, true}, // 59.95 by what is known, and one
		{"too little", "tight", 57, 100, false},
		{"the most", "tight", 61, 100, true},
		{"too much", "tight", 62, 100, false},
		{"nothing denied", "tight", 60, 0, false},
		{"all", "wide", 1000, 0, true},
		{"one denied", "wide", 1000, 1, false},
	} {
		a := span
		a.allowed, a.denied = tc.allowed, tc.denied
		if err := a.fair(tc.kind); (err == nil) != tc.fair {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestTally(t *testing.T) {
	l := tally{began: time.Now().Add(-time.Minute)}
	yes, no := weir.Decision{}, weir.Decision{}
	yes.Verdict, no.Verdict = weir.Allow, weir.Deny
	for range 3 {
		l.note(tenantOf(3), time.Millisecond, &yes, nil)
		l.note(tenantOf(4), time.Millisecond, &yes, nil)
	}
	l.note(tenantOf(4+2*tightTenants), time.Second, &no, nil) // the same tenant's
	if l.size() != 2 {
		t.Errorf("%d tenants", l.size())
	}
	a := l.mu.tenants[tenant{"tight", 2}]
	if a.allowed != 3 || a.denied != 1 || a.firstAnswer-a.firstAsked < 900*time.Millisecond {
		t.Errorf("%+v", a)
	}
	if got := l.unfair(); len(got) != 1 {
		t.Errorf("3 of a burst of %d is too little for one, and %v", tightBurst, got)
	}
}
