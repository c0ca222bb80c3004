package weir_test

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

// TestNames: names are what logs, metrics and files say; they are distinct, and
// what is out of range has one too.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		what  string
		names []fmt.Stringer
		want  []string
		off   fmt.Stringer
		named string
	}{
		{
			"algorithms",
			[]fmt.Stringer{weir.Algorithm(0), weir.GCRA, weir.TokenBucket, weir.SlidingWindow, weir.FixedWindow, weir.LeakyBucket, weir.SlidingLog, weir.Concurrency},
			[]string{"invalid", "gcra", "token_bucket", "sliding_window", "fixed_window", "leaky_bucket", "sliding_log", "concurrency"},
			weir.Algorithm(8), "algorithm(8)",
		},
		{
			"modes",
			[]fmt.Stringer{weir.Enforce, weir.Shadow, weir.Always, weir.Peek, weir.Refund, weir.UpTo},
			[]string{"enforce", "shadow", "always", "peek", "refund", "up_to"},
			weir.Mode(6), "mode(6)",
		},
		{
			"twinnings",
			[]fmt.Stringer{weir.TwinNone, weir.TwinNext, weir.TwinLast, weir.TwinOld},
			[]string{"none", "next", "last", "old"},
			weir.Twinning(4), "twinning(4)",
		},
		{
			"verdicts",
			[]fmt.Stringer{weir.Verdict(0), weir.Allow, weir.Deny},
			[]string{"undecided", "allow", "deny"},
			weir.Verdict(3), "undecided",
		},
		{
			"reasons",
			[]fmt.Stringer{weir.ReasonNone, weir.ReasonExhausted, weir.ReasonTooCostly, weir.ReasonNoRule, weir.ReasonDegraded, weir.ReasonForced, weir.ReasonShed},
			[]string{"none", "exhausted", "too_costly", "no_rule", "degraded", "forced", "shed"},
			weir.Reason(200), "none",
		},
		{
			"sources",
			[]fmt.Stringer{weir.SourceStore, weir.SourceDenyCache, weir.SourceLease, weir.SourceBackstop, weir.SourceShadow, weir.SourceSwitch},
			[]string{"store", "deny_cache", "lease", "backstop", "shadow", "switch"},
			weir.Source(200), "store",
		},
		{
			"losses",
			[]fmt.Stringer{weir.LossLateAnswer, weir.LossRefund, weir.LossUncertain, weir.LossCorruptState},
			[]string{"late_answer", "refund", "uncertain", "corrupt_state"},
			weir.Loss(200), "unknown",
		},
		{
			"breaker states",
			[]fmt.Stringer{weir.BreakerClosed, weir.BreakerOpen, weir.BreakerHalfOpen},
			[]string{"closed", "open", "half_open"},
			weir.BreakerState(3), "unknown",
		},
	} {
		for i, n := range tt.names {
			if n.String() != tt.want[i] {
				t.Errorf("%s: %q, want %q", tt.what, n, tt.want[i])
			}
		}
		if tt.off.String() != tt.named {
			t.Errorf("%s: %q out of range, want %q", tt.what, tt.off, tt.named)
		}
	}
}

func TestCodeNamesAreDistinct(t *testing.T) {
	seen := map[string]weir.Code{}
	for c := weir.CodeInternal; c <= weir.CodeBreaker; c++ {
		if other, dup := seen[c.String()]; dup || c.String() == "" {
			t.Errorf("codes %d and %d are both %q", c, other, c)
		}
		seen[c.String()] = c
	}
	if got := weir.Code(200).String(); got != "internal" {
		t.Errorf("out of range: %q", got)
	}
}

func TestParseAlgorithm(t *testing.T) {
	for a := weir.GCRA; a <= weir.Concurrency; a++ {
		if got, err := weir.ParseAlgorithm(a.String()); err != nil || got != a {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	for _, name := range []string{"", "invalid", "GCRA", "gcra ", "algorithm(1)"} {
		got, err := weir.ParseAlgorithm(name)
		wantInvalid(t, name, err, "algorithm")
		if got != 0 {
			t.Errorf("%q: %v beside an error", name, got)
		}
	}
}

func TestDecisionAllowed(t *testing.T) {
	for v, want := range map[weir.Verdict]bool{0: false, weir.Allow: true, weir.Deny: false} {
		if d := (weir.Decision{Verdict: v}); d.Allowed() != want {
			t.Errorf("%v: allowed is %v", v, d.Allowed())
		}
	}
}
