package admission

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// hasty is a checker that gives up with its context, as clients of servers do,
// and fails open then. Given time, it answers as its script does.
type hasty struct{ *script }

func (h hasty) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	if _, ok := ctx.Deadline(); ok {
		*d = degraded
		return nil
	}
	return h.script.Check(ctx, r, d)
}

// leaving is a checker whose caller leaves while it decides.
type leaving struct {
	*script
	leave func()
}

func (l leaving) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	err := l.script.Check(ctx, r, d)
	l.leave()
	return err
}

// TestCallersDeadlineIsNotTheCheckers: or who gives little time would choose how
// the check fails. What the context carries is handed on.
func TestCallersDeadlineIsNotTheCheckers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := hasty{&script{dec: denied(allowed)}}
	p, _ := pass(t, c, Settings{}, "")
	if err := p.Ask(ctx); err != nil || p.Decision.Allowed() {
		t.Errorf("asked: %v, %v", p.Decision.Verdict, err)
	}
	var d weir.Decision
	if err := p.Spend(ctx, 1, &d); err != nil || d.Allowed() {
		t.Errorf("spent: %v, %v", d.Verdict, err)
	}
	type key struct{}
	if have := patient(context.WithValue(ctx, key{}, 7)).Value(key{}); have != 7 {
		t.Errorf("the context has %v", have)
	}
	if free := context.WithValue(t.Context(), key{}, 7); patient(free) != free {
		t.Error("a context without a deadline was changed")
	}
}

// TestWhoLeftMeanwhile is refused, gives back what was charged, and leaves its
// place, whoever chose the id.
func TestWhoLeftMeanwhile(t *testing.T) {
	for _, tc := range []struct {
		name             string
		dec              weir.Decision
		refunds, release int
	}{
		{"charged", allowed, 1, 0},
		{"took a place", taking(1), 1, 1},
		{"shares a place", taking(0), 1, 0},
		{"met no rule", noRule, 0, 0},
		{"was not counted", degraded, 0, 0},
	} {
		for _, late := range []bool{false, true} { // by its deadline, or by hanging up
			ctx, cancel := context.WithCancel(t.Context())
			want := weir.CodeCanceled
			if late {
				ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
				want = weir.CodeTimeout
			}
			s := &script{dec: tc.dec}
			p, freed := pass(t, leaving{s, func() {
				if !late {
					cancel()
				}
				<-ctx.Done()
			}}, Settings{}, "theirs")
			err := p.Ask(ctx)
			if err == nil {
				t.Fatalf("%s: goes on", tc.name)
			}
			if err = p.Undecided(ctx, err); !Gone(err) || weir.CodeOf(err) != want {
				t.Errorf("%s: %v", tc.name, err)
			}
			p.End(ctx, 0)
			cancel()
			if len(s.asked) != 1+tc.refunds || len(s.released) != tc.release || *freed != 1 {
				t.Errorf("%s: asked %+v, released %q, freed %d times", tc.name, s.asked, s.released, *freed)
			}
			if tc.refunds > 0 && !s.asked[1].Descriptors[0].Refund {
				t.Errorf("%s: %+v", tc.name, s.asked[1])
			}
		}
	}
}

// TestWhoWasDeniedMeanwhile hears of it, if it still listens.
func TestWhoWasDeniedMeanwhile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, _ := pass(t, leaving{&script{dec: denied(allowed)}, cancel}, Settings{}, "")
	if err := p.Ask(ctx); err != nil || p.Decision.Allowed() {
		t.Errorf("%v, %v", p.Decision.Verdict, err)
	}
}

// TestSpendOfWhoLeft: the units stay spent, and the message goes nowhere.
func TestSpendOfWhoLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{dec: allowed}
	p, _ := pass(t, leaving{s, cancel}, Settings{}, "")
	var d weir.Decision
	if err := p.Spend(ctx, 1, &d); !Gone(err) || len(s.asked) != 1 {
		t.Errorf("%v, asked %+v", err, s.asked)
	}
}
