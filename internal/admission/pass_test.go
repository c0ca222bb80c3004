package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
)

// TestIDOnDemand: a check that was refused for want of an id is made again with
// one, once; the id is nobody else's.
func TestIDOnDemand(t *testing.T) {
	for _, field := range []string{"id", "request_id"} {
		s := &script{err: &weir.Error{Code: weir.CodeInvalid, Field: field}}
		p, _ := pass(t, s, Settings{}, "")
		err := p.Ask(t.Context())
		if len(s.asked) != 2 || s.asked[0].ID != "" || len(s.asked[1].ID) < 20 {
			t.Errorf("%s: asked %+v", field, s.asked)
		}
		if err := p.Undecided(t.Context(), err); err != nil || !p.Decision.Allowed() {
			t.Errorf("%s: still wanted: %v", field, err)
		}
	}
	seen := map[string]bool{}
	for range 2 {
		s := &script{dec: allowed}
		for range 2 {
			p, _ := pass(t, s, Settings{Slots: true}, "")
			_ = p.Ask(t.Context())
		}
		g := NewGate(s, Settings{})
		for range 2 {
			seen[g.ids.next()] = true
		}
		for _, r := range s.asked {
			seen[r.ID] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("ids %v", seen)
	}
}

func TestIdentify(t *testing.T) {
	for _, tc := range []struct {
		values []string
		want   string
		ok     bool
	}{
		{nil, "", true},
		{[]string{"x"}, "x", true},
		{[]string{strings.Repeat("x", weir.MaxIDBytes)}, strings.Repeat("x", weir.MaxIDBytes), true},
		{[]string{"x", "x"}, "", false},
		{[]string{strings.Repeat("x", weir.MaxIDBytes+1)}, "", false},
		{[]string{"\xff"}, "", false},
	} {
		p, _ := pass(t, &script{}, Settings{}, "")
		if err := p.Identify("X-Id", tc.values); (err == nil) != tc.ok || p.Request.ID != tc.want {
			t.Errorf("%q: %q, %v", tc.values, p.Request.ID, err)
		}
	}
}

// TestUndecided: what is the caller's doing is refused, all else fails as set.
func TestUndecided(t *testing.T) {
	away := &weir.Error{Code: weir.CodeRefused, Message: "redis.internal is away"}
	missing := &weir.Error{Code: weir.CodeInvalid, Field: "tenant", Message: "is missing", Hint: "of the operator's"}
	badID := &weir.Error{Code: weir.CodeInvalid, Field: "id", Message: "is odd"}
	for _, tc := range []struct {
		name    string
		id      string
		err     error
		refused bool
		fault   string
	}{
		{"away", "", away, false, ""},
		{"not a weir.Error", "", errors.New("x"), false, ""},
		{"no policy", "", &weir.Error{Code: weir.CodePolicyNotFound}, false, ""},
		{"a dimension is missing", "", missing, true, "tenant: is missing"},
		{"an id is missing", "", badID, false, ""},
		{"the caller's id", "theirs", badID, true, "id: is odd"},
		{"not attributed", "", Unattributed(missing), true, "tenant: is missing"},
		{"not attributed, why is not told", "", Unattributed(fmt.Errorf("secret: %w", missing)), true, ""},
		{"attributed by what is away", "", Unattributed(away), false, ""},
	} {
		for _, closed := range []bool{false, true} {
			told := 0
			p, _ := pass(t, &script{}, Settings{Closed: closed, Log: func(error) { told++ }}, tc.id)
			err := p.Undecided(t.Context(), tc.err)
			if (err != nil) != tc.refused || told != 1 || Gone(err) {
				t.Errorf("%s: %v, told %d times", tc.name, err, told)
			}
			if err != nil && Fault(err) != tc.fault {
				t.Errorf("%s: tells %q, want %q", tc.name, Fault(err), tc.fault)
			}
			d := &p.Decision
			if err == nil && (d.Allowed() == closed || d.Reason != weir.ReasonDegraded || closed != (d.RetryAfter > 0)) {
				t.Errorf("%s, closed %v: %+v", tc.name, closed, d)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	p, _ := pass(t, &script{}, Settings{}, "")
	err := p.Ask(gone)
	if err = p.Undecided(gone, err); !Gone(err) || weir.CodeOf(err) != weir.CodeCanceled {
		t.Errorf("a caller who is gone: %v", err)
	}
}

// TestWait: as long as is said, at most as long as is set, and not longer than
// the caller.
func TestWait(t *testing.T) {
	shaped := weir.Decision{Verdict: weir.Allow, Delay: 2 * weir.Second, Rule: "other", Scope: "x", Charges: []weir.Charged{
		{Rule: "other"}, {Rule: "shape", Outcome: weir.Outcome{Delay: 2 * weir.Second, ResetAfter: 9}},
	}}
	for _, tc := range []struct {
		name    string
		most    time.Duration
		caller  time.Duration
		waited  time.Duration
		verdict weir.Verdict // 0 for gone
	}{
		{"patient", time.Minute, time.Minute, 2 * time.Second, weir.Allow},
		{"just", 2 * time.Second, time.Minute, 2 * time.Second, weir.Allow},
		{"too long", 1500 * time.Millisecond, time.Minute, 0, weir.Deny},
		{"never", 0, time.Minute, 0, weir.Deny},
		{"at once", -1, time.Minute, 0, weir.Allow},
		{"gone", time.Minute, time.Second, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{dec: shaped}
			p, freed := pass(t, s, Settings{MaxDelay: tc.most}, "")
			if err := p.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), tc.caller)
			defer cancel()
			began := time.Now()
			err := p.Wait(ctx)
			d := p.Decision
			if time.Since(began) != tc.waited || Gone(err) != (tc.verdict == 0) || err == nil && d.Verdict != tc.verdict {
				t.Errorf("%s: %v, %v after %v", tc.name, d.Verdict, err, time.Since(began))
			}
			if tc.verdict == weir.Deny && (d.Rule != "shape" || d.Scope != "" || d.ResetAfter != 9 || d.Delay != 0 ||
				d.RetryAfter != 2*weir.Second-weir.MicrosOf(tc.most) || d.Reason != weir.ReasonExhausted) {
				t.Errorf("%s: %+v", tc.name, d)
			}
			p.End(ctx, 0)
			refunded := len(s.asked) == 2 && s.asked[1].Descriptors[0].Refund
			if refunded != (tc.verdict != weir.Allow) || *freed != 1 {
				t.Errorf("%s: asked %+v, freed %d times", tc.name, s.asked, *freed)
			}
		})
	}
}
