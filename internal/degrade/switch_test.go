package degrade_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade"
)

// clock is one that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{at: time.Unix(1_800_000_000, 0)} }

var logins = degrade.Scope{Domain: "api", Policy: "logins"}

func force(t *testing.T, s *degrade.Switch, scope degrade.Scope, span time.Duration) degrade.Forced {
	t.Helper()
	f, err := s.Force(scope, "ann", "an incident", span)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSwitchOfOnePolicy(t *testing.T) {
	c := newClock()
	s := degrade.NewSwitch(c.now)
	if s.On() || s.Forced("api", "logins") || s.Forced("", "") || s.List() != nil || s.Ended() != nil {
		t.Error("something is forced at first")
	}
	f := force(t, s, logins, 10*time.Minute)
	if f.Who != "ann" || f.Why != "an incident" || !f.Since.Equal(c.at) || !f.Until.Equal(c.at.Add(10*time.Minute)) {
		t.Errorf("%+v", f)
	}
	if !s.On() || !s.Forced("api", "logins") || s.Forced("api", "uploads") || s.Forced("other", "logins") || s.Forced("", "") {
		t.Error("not the one policy is forced")
	}
	c.at = c.at.Add(10*time.Minute - 1)
	if !s.Forced("api", "logins") || s.Ended() != nil {
		t.Error("it ended early")
	}
	c.at = c.at.Add(1)
	if s.On() || s.Forced("api", "logins") || s.List() != nil {
		t.Error("it did not end by itself")
	}
	if ended := s.Ended(); len(ended) != 1 || ended[0].Scope != logins || s.Ended() != nil {
		t.Errorf("ended: %+v", ended)
	}
}

func TestSwitchOfEverything(t *testing.T) {
	c := newClock()
	s := degrade.NewSwitch(c.now)
	if f := force(t, s, degrade.Everything, 0); f.Until.Sub(f.Since) != time.Hour {
		t.Errorf("by default for %v", f.Until.Sub(f.Since))
	}
	force(t, s, logins, time.Minute)
	if !s.Forced("", "") || !s.Forced("api", "uploads") {
		t.Error("not everything is forced")
	}
	if list := s.List(); len(list) != 2 || list[0].Scope != logins {
		t.Errorf("%+v", list)
	}
	c.at = c.at.Add(2 * time.Minute)
	if !s.Forced("api", "logins") {
		t.Error("what ended for one policy ended for it in everything")
	}
	if lifted := s.Lift(degrade.Everything); len(lifted) != 1 || s.On() {
		t.Errorf("lifted %+v", lifted)
	}
	if ended := s.Ended(); len(ended) != 1 || ended[0].Scope != logins {
		t.Errorf("ended %+v", ended)
	}
}

func TestLift(t *testing.T) {
	s := degrade.NewSwitch(newClock().now)
	force(t, s, logins, 0)
	force(t, s, degrade.Scope{Domain: "api", Policy: "uploads"}, 0)
	force(t, s, logins, time.Minute) // the last word counts
	if list := s.List(); len(list) != 2 || list[0].Scope != logins {
		t.Errorf("%+v", list)
	}
	if lifted := s.Lift(logins); len(lifted) != 1 || s.Forced("api", "logins") || !s.Forced("api", "uploads") {
		t.Errorf("lifted %+v", lifted)
	}
	if lifted := s.Lift(logins); lifted != nil {
		t.Errorf("lifted %+v again", lifted)
	}
	if lifted := s.Lift(degrade.Everything); len(lifted) != 1 || s.On() {
		t.Errorf("lifted %+v", lifted)
	}
}

func TestForceIsBounded(t *testing.T) {
	c := newClock()
	s := degrade.NewSwitch(c.now)
	for i := range degrade.MaxForced {
		force(t, s, degrade.Scope{Domain: "api", Policy: fmt.Sprint("p", i)}, time.Minute)
	}
	if _, err := s.Force(logins, "ann", "why", 0); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("one too many: %v", err)
	}
	force(t, s, degrade.Everything, time.Minute) // as the hint says
	if !s.Forced(logins.Domain, logins.Policy) {
		t.Error("everything is not forced")
	}
	force(t, s, degrade.Scope{Domain: "api", Policy: "p1"}, time.Hour)
	c.at = c.at.Add(2 * time.Minute)
	force(t, s, logins, 0)
	if n := len(s.List()); n != 2 {
		t.Errorf("%d are forced", n)
	}
}

func TestForceIsChecked(t *testing.T) {
	s := degrade.NewSwitch(newClock().now)
	for _, c := range []struct {
		field    string
		scope    degrade.Scope
		who, why string
		span     time.Duration
	}{
		{"who", logins, "", "why", 0},
		{"who", logins, " \t", "why", 0},
		{"who", logins, "a\nlevel=INFO", "why", 0},
		{"why", logins, "ann", "", 0},
		{"why", logins, "ann", strings.Repeat("x", 257), 0},
		{"why", logins, "ann", "\xff", 0},
		{"for", logins, "ann", "why", -1},
		{"for", logins, "ann", "why", 24*time.Hour + 1},
		{"policy", degrade.Scope{Domain: "api"}, "ann", "why", 0},
		{"policy", degrade.Scope{Policy: "p"}, "ann", "why", 0},
	} {
		_, err := s.Force(c.scope, c.who, c.why, c.span)
		if e, ok := err.(*weir.Error); !ok || e.Field != c.field || e.Code != weir.CodeInvalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if s.On() {
		t.Error("something is forced")
	}
}

func BenchmarkSwitchOff(b *testing.B) {
	s := degrade.NewSwitch(time.Now)
	for b.Loop() {
		if s.On() {
			b.Fatal("on")
		}
	}
}
