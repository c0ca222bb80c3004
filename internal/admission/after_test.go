package admission

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/weirlimit/weir"
)

// TestWhoReleases: whoever took a place, or may have, and nobody else.
func TestWhoReleases(t *testing.T) {
	lost := &weir.Error{Code: weir.CodeTimeout}
	for _, tc := range []struct {
		name         string
		dec          weir.Decision
		err          error
		mine, theirs int // releases with an id of ours, and with the caller's
	}{
		{"took a place", taking(1), nil, 1, 1},
		{"shares a place", taking(0), nil, 0, 0},
		{"is an answer given before", replayed(taking(1)), nil, 0, 0},
		{"is denied", denied(taking(1)), nil, 0, 0},
		{"met no rule", noRule, nil, 0, 0},
		{"met what is not listed", allowed, nil, 1, 0},
		{"met a store that was late", degraded, nil, 1, 0},
		{"was denied for a store that was late", denied(degraded), nil, 1, 0},
		{"met an answer that was lost", weir.Decision{}, lost, 1, 0},
		{"is wrong", weir.Decision{}, &weir.Error{Code: weir.CodeInvalid, Field: "tenant"}, 0, 0},
		{"met a policy that is gone", weir.Decision{}, &weir.Error{Code: weir.CodePolicyNotFound}, 0, 0},
	} {
		for id, want := range map[string]int{"": tc.mine, "theirs": tc.theirs} {
			s := &script{dec: tc.dec, err: tc.err}
			p, freed := pass(t, s, Settings{Slots: true}, id)
			if err := p.Ask(t.Context()); err != nil {
				_ = p.Undecided(t.Context(), err)
			}
			if holds := p.Holds(); holds != (want > 0) {
				t.Errorf("%s, id %q: holds %v", tc.name, id, holds)
			}
			used := p.Request.ID
			p.Release(t.Context())
			p.End(t.Context(), 0)
			if len(s.released) != want || want > 0 && s.released[0] != used || *freed != 1 {
				t.Errorf("%s, id %q: released %q, freed %d times", tc.name, id, s.released, *freed)
			}
		}
	}
}

// TestNothingToReleaseWith: a checker that is no Releaser is given no ids late.
func TestNothingToReleaseWith(t *testing.T) {
	s := &script{err: &weir.Error{Code: weir.CodeInvalid, Field: "id"}}
	p, _ := pass(t, struct{ weir.Checker }{s}, Settings{}, "")
	if err := p.Ask(t.Context()); !wantsID(err) || len(s.asked) != 1 || p.Undecided(t.Context(), err) != nil || p.Holds() {
		t.Errorf("%v after %d questions", err, len(s.asked))
	}
}

// TestEnd: what is charged or given back afterwards, and under which id.
func TestEnd(t *testing.T) {
	back := func(p *Pass) { p.GiveBack() }
	refund := func(n int64) *weir.Descriptor { return &weir.Descriptor{Cost: n, Refund: true} }
	for _, tc := range []struct {
		name   string
		dec    weir.Decision
		before func(*Pass)
		units  int64
		want   *weir.Descriptor // nil for nothing
	}{
		{"costs nothing more", allowed, nil, 0, nil},
		{"costs more", allowed, nil, 3, &weir.Descriptor{Cost: 3, Spent: true}},
		{"costs less", allowed, nil, -3, refund(3)},
		{"costs less than anything", allowed, nil, math.MinInt64, refund(math.MaxInt64)},
		{"given back", allowed, back, 0, refund(4)},
		{"given back by one that is asked again", replayed(allowed), back, 0, refund(4)},
		{"given back, was free", allowed, func(p *Pass) { p.cost, p.charged = 0, false; p.GiveBack() }, 0, nil},
		{"given back, was not counted", degraded, back, 0, nil},
		{"given back, nothing counts", noRule, back, 0, nil},
		{"not counted, costs more", degraded, nil, 3, &weir.Descriptor{Cost: 3, Spent: true}},
		{"nobody's", allowed, func(p *Pass) { p.Begin(1) }, 3, nil},
	} {
		for _, id := range []string{"", "theirs"} {
			for _, async := range []bool{false, true} {
				s := &script{dec: tc.dec}
				var c weir.Checker = s
				if async {
					c = later{s}
				}
				p, freed := pass(t, c, Settings{Slots: true}, id)
				if err := p.Ask(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tc.before != nil {
					tc.before(p)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // the caller need not be there
				p.End(ctx, tc.units)
				if *freed != 1 || len(s.asked) != 1+count(tc.want != nil) {
					t.Errorf("%s: freed %d times, asked %+v", tc.name, *freed, s.asked)
					continue
				}
				if tc.want == nil {
					continue
				}
				r, d := s.asked[1], s.asked[1].Descriptors[0]
				if d.Cost != tc.want.Cost || d.Spent != tc.want.Spent || d.Refund != tc.want.Refund || !d.HasCost ||
					len(d.Pairs) != 1 || d.Pairs[0].Value != "a" || r.ID != id || r.Domain != "d" || r.Policy != "p" {
					t.Errorf("%s: %+v", tc.name, r)
				}
			}
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestFailuresAfterwardsAreTold, and p is free all the same.
func TestFailuresAfterwardsAreTold(t *testing.T) {
	s := &script{dec: allowed}
	var told []error
	p, freed := pass(t, s, Settings{Log: func(err error) { told = append(told, err) }}, "")
	_ = p.Ask(t.Context())
	s.err = errors.New("away")
	p.End(t.Context(), 1)
	if len(told) != 1 || *freed != 1 {
		t.Errorf("told %v, freed %d times", told, *freed)
	}
}

func TestSpend(t *testing.T) {
	away := &weir.Error{Code: weir.CodeRefused}
	for _, tc := range []struct {
		name   string
		dec    weir.Decision
		err    error
		closed bool
		want   weir.Verdict // 0 for an error
	}{
		{"fits", allowed, nil, false, weir.Allow},
		{"does not fit", denied(allowed), nil, false, weir.Deny},
		{"wait too long", weir.Decision{Verdict: weir.Allow, Delay: weir.Second}, nil, false, weir.Deny},
		{"away", weir.Decision{}, away, false, weir.Allow},
		{"away, closed", weir.Decision{}, away, true, weir.Deny},
		{"no decision, closed", weir.Decision{}, nil, true, weir.Deny},
		{"wrong", weir.Decision{}, &weir.Error{Code: weir.CodeInvalid, Field: "tenant"}, false, 0},
	} {
		s := &script{dec: tc.dec, err: tc.err}
		p, _ := pass(t, s, Settings{Closed: tc.closed}, "theirs")
		var d weir.Decision
		err := p.Spend(t.Context(), 7, &d)
		if (err != nil) != (tc.want == 0) || err == nil && d.Verdict != tc.want {
			t.Errorf("%s: %v, %v", tc.name, d.Verdict, err)
		}
		if r := s.asked[0]; r.ID != "" || !r.Descriptors[0].Spent || r.Descriptors[0].Cost != 7 || len(r.Descriptors[0].Pairs) != 1 {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
	s := &script{dec: denied(allowed)}
	p, _ := pass(t, s, Settings{}, "")
	p.Begin(1)
	var d weir.Decision
	if err := p.Spend(t.Context(), 7, &d); err != nil || !d.Allowed() || len(s.asked) != 0 {
		t.Errorf("nobody's: %v, %v, %+v", d.Verdict, err, s.asked)
	}
}
