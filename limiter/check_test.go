package limiter

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

var ctx = context.Background()

// allowed asks n times and counts.
func allowed(t *testing.T, l *Limiter, k string, n int) (passed int) {
	t.Helper()
	for range n {
		d, err := l.Allow(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed() {
			passed++
		}
	}
	return passed
}

func TestAllowUntilExhausted(t *testing.T) {
	for _, store := range []weir.Store{newFake(), &takingFake{fake: newFake()}} {
		l := newLimiter(t, store, "10/s burst 3")
		for i := range int64(3) {
			d, err := l.Allow(ctx, "a")
			want := weir.Decision{
				Verdict: weir.Allow, Rule: "login", Limit: limits(t, "10/s burst 3")[0],
				Remaining: 2 - i, ResetAfter: weir.Micros(i+1) * 100 * weir.Millisecond,
			}
			if err != nil || !reflect.DeepEqual(d, want) {
				t.Errorf("request %d: %+v, %v\nwant %+v", i, d, err, want)
			}
		}
		d, err := l.Allow(ctx, "a")
		want := weir.Decision{
			Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: "login", Limit: limits(t, "10/s burst 3")[0],
			ResetAfter: 300 * weir.Millisecond, RetryAfter: 100 * weir.Millisecond,
		}
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("denial: %+v, %v\nwant %+v", d, err, want)
		}
		if n := allowed(t, l, "b", 4); n != 3 {
			t.Errorf("another key: %d pass, want 3", n)
		}
	}
}

func TestRetryAfterIsExact(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "7/s burst 3", "100/m")
	allowed(t, l, "a", 3)
	d, _ := l.Allow(ctx, "a")
	f.now += d.RetryAfter - 1
	if n := allowed(t, l, "a", 1); n != 0 {
		t.Error("admitted a microsecond before the retry-after")
	}
	f.now++
	if n := allowed(t, l, "a", 1); n != 1 {
		t.Error("denied at the retry-after")
	}
}

func TestSeveralLimitsAreDecidedTogether(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "10/s burst 2", "5/h", "2 concurrency m")
	var d weir.Decision
	for i := range 2 {
		if err := l.Check(ctx, Ask{Key: "a", ID: fmt.Sprint(i)}, &d); err != nil || !d.Allowed() {
			t.Fatalf("request %d: %+v, %v", i, d, err)
		}
	}
	f.now += weir.Second // the bucket has room again, the other two have not moved
	if err := l.Check(ctx, Ask{Key: "a", ID: "3"}, &d); err != nil || d.Verdict != weir.Deny {
		t.Fatalf("third in flight: %+v, %v", d, err)
	}
	if got, want := d.Limit, limits(t, "2 concurrency m")[0]; got != want || d.RetryAfter != 59*weir.Second {
		t.Errorf("denied by %v, retry after %d us; want %v after 59 s", got, d.RetryAfter, want)
	}
	var used []int64
	for _, c := range d.Charges {
		used = append(used, c.Outcome.Before.Used)
		if c.Outcome.Granted != 0 {
			t.Errorf("a denied request was charged: %+v", c)
		}
	}
	if want := []int64{0, 2, 2}; !reflect.DeepEqual(used, want) {
		t.Errorf("in use: %v, want %v", used, want)
	}
}

// TestCountersOfAKeyShareItsSlot: else a cluster could not decide on them in
// one call, whatever the caller's key does to look like a tag.
func TestCountersOfAKeyShareItsSlot(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "10/s burst 2", "500/h", "1000/d fixed_window")
	for _, k := range []string{"a", "{", "}", "{}", "}{x}", "%", "\x00", "\xff", strings.Repeat("}", 64<<10)} {
		allowed(t, l, k, 1)
		if len(f.keys) != 3 {
			t.Fatalf("%d keys, want 3", len(f.keys))
		}
		for i, got := range f.keys {
			if key.Slot(got) != key.Slot(f.keys[0]) {
				t.Errorf("%q and %q are in different slots", got, f.keys[0])
			}
			p, err := key.Parse(got)
			limit := l.counters[i].meter.Limit
			if err != nil || p.Rule.Text != "login" || p.Domain.Text != "" ||
				p.Algorithm != limit.Algorithm || p.Window != limit.Window {
				t.Errorf("%q says %+v, %v", got, p, err)
			}
			if len(k) <= key.MaxLiteral && p.Partition.Text != k {
				t.Errorf("%q is of %q, want %q", got, p.Partition.Text, k)
			}
		}
	}
}

func TestNamesAreApart(t *testing.T) {
	f := newFake()
	a, errA := New(f, "a", limits(t, "1/h")...)
	b, errB := New(f, "b", limits(t, "1/h")...)
	again, errC := New(f, "a", limits(t, "1/h")...)
	if err := errors.Join(errA, errB, errC); err != nil {
		t.Fatal(err)
	}
	if x, y, z := allowed(t, a, "k", 1), allowed(t, b, "k", 1), allowed(t, again, "k", 1); x != 1 || y != 1 || z != 0 {
		t.Errorf("a %d, b %d, a again %d; want 1 1 0", x, y, z)
	}
}

func TestCosts(t *testing.T) {
	for _, store := range []weir.Store{newFake(), &takingFake{fake: newFake()}} {
		l := newLimiter(t, store, "10/s burst 5")
		for _, tc := range []struct {
			cost    int64
			verdict weir.Verdict
			reason  weir.Reason
			left    int64
		}{
			{0, weir.Allow, weir.ReasonNone, 5},
			{6, weir.Deny, weir.ReasonTooCostly, 5},
			{5, weir.Allow, weir.ReasonNone, 0},
			{0, weir.Allow, weir.ReasonNone, 0},
			{1, weir.Deny, weir.ReasonExhausted, 0},
		} {
			d, err := l.AllowN(ctx, "a", tc.cost)
			if err != nil || d.Verdict != tc.verdict || d.Reason != tc.reason || d.Remaining != tc.left {
				t.Errorf("cost %d: %+v, %v; want %+v", tc.cost, d, err, tc)
			}
			if never := d.RetryAfter == weir.Never; never != (tc.reason == weir.ReasonTooCostly) {
				t.Errorf("cost %d: retry after %d", tc.cost, d.RetryAfter)
			}
		}
	}
}

func TestInvalidAsksNameTheirField(t *testing.T) {
	f := newFake()
	rate := newLimiter(t, f, "10/s")
	slots := newLimiter(t, f, "10 concurrency m")
	for _, tc := range []struct {
		l     *Limiter
		ask   Ask
		field string
	}{
		{rate, Ask{}, "key"},
		{rate, Ask{Key: strings.Repeat("x", weir.MaxKeyBytes+1)}, "key"},
		{rate, Ask{Key: "a", Cost: -1}, "cost"},
		{rate, Ask{Key: "a", ID: strings.Repeat("x", weir.MaxIDBytes+1)}, "id"},
		{rate, Ask{Key: "a", Mode: 99}, "charges[0].mode"},
		{slots, Ask{Key: "a"}, "id"},
		{slots, Ask{Key: "a", Mode: weir.Refund}, "id"},
	} {
		// Failing open must not cover the caller's mistakes.
		for _, l := range []*Limiter{tc.l, tc.l.WithOnError(weir.Allow)} {
			d := weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonForced}
			err := l.Check(ctx, tc.ask, &d)
			var e *weir.Error
			if !errors.As(err, &e) || e.Code != weir.CodeInvalid || e.Field != tc.field || d.Verdict != 0 {
				t.Errorf("%+v: %v, verdict %v; want field %s and no verdict", tc.ask, err, d.Verdict, tc.field)
			}
		}
	}
	if len(f.states) != 0 {
		t.Errorf("invalid requests made states: %v", f.states)
	}
}

func TestCheckFillsChargesInTheirMemory(t *testing.T) {
	for _, store := range []weir.Store{newFake(), &takingFake{fake: newFake()}} {
		l := newLimiter(t, store, "10/s burst 5")
		d := weir.Decision{Charges: make([]weir.Charged, 7, 8)}
		first := &d.Charges[0]
		if err := l.Check(ctx, Ask{Key: "a"}, &d); err != nil || len(d.Charges) != 1 || &d.Charges[0] != first {
			t.Fatalf("%d charges, %v; want one, where the first was", len(d.Charges), err)
		}
		want := weir.Charged{
			Rule: "login", Limit: limits(t, "10/s burst 5")[0], Cost: 1,
			Outcome: weir.Outcome{OK: true, Granted: 1, Remaining: 4, ResetAfter: 100 * weir.Millisecond},
		}
		if d.Charges[0] != want {
			t.Errorf("charge %+v\nwant %+v", d.Charges[0], want)
		}
	}
}

func TestModes(t *testing.T) {
	l := newLimiter(t, newFake(), "10/h")
	var d weir.Decision
	for _, tc := range []struct {
		ask     Ask
		verdict weir.Verdict
		source  weir.Source
		granted int64
		left    int64
	}{
		{Ask{Cost: 8}, weir.Allow, weir.SourceStore, 8, 2},
		{Ask{Cost: 3, Mode: weir.Peek}, weir.Deny, weir.SourceStore, 0, 2},
		{Ask{Cost: 3, Mode: weir.Shadow}, weir.Allow, weir.SourceShadow, 0, 2},
		{Ask{Cost: 3, Mode: weir.UpTo}, weir.Allow, weir.SourceStore, 2, 0},
		{Ask{Mode: weir.Peek}, weir.Deny, weir.SourceStore, 0, 0},
		{Ask{Cost: 4, Mode: weir.Refund}, weir.Allow, weir.SourceStore, 4, 4},
		{Ask{Mode: weir.Peek}, weir.Allow, weir.SourceStore, 0, 4},
		{Ask{Cost: 9, Mode: weir.Refund}, weir.Allow, weir.SourceStore, 6, 10},
	} {
		tc.ask.Key = "a"
		err := l.Check(ctx, tc.ask, &d)
		if err != nil || d.Verdict != tc.verdict || d.Source != tc.source || d.Remaining != tc.left ||
			d.Charges[0].Outcome.Granted != tc.granted {
			t.Errorf("%+v: %+v, %v", tc.ask, d, err)
		}
		if d.Verdict == weir.Allow && d.RetryAfter != 0 {
			t.Errorf("%+v: allowed, and told to retry after %d us", tc.ask, d.RetryAfter)
		}
	}
}

func TestRefundAndPeek(t *testing.T) {
	l := newLimiter(t, newFake(), "2/h", "3/d")
	allowed(t, l, "a", 2)
	if d, err := l.Peek(ctx, "a"); err != nil || d.Verdict != weir.Deny || d.Charges != nil {
		t.Errorf("peek at a used up key: %+v, %v", d, err)
	}
	if err := l.Refund(ctx, "a", 1, ""); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if d, err := l.Peek(ctx, "a"); err != nil || !d.Allowed() || d.Remaining != 1 {
			t.Errorf("peek after a refund: %+v, %v", d, err)
		}
	}
	if n := allowed(t, l, "a", 2); n != 1 {
		t.Errorf("%d pass after a refund of 1", n)
	}
}

func TestReset(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "2/h", "3/d")
	allowed(t, l, "a", 2)
	allowed(t, l, "b", 2)
	if err := l.Reset(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if a, b := allowed(t, l, "a", 3), allowed(t, l, "b", 3); a != 2 || b != 0 {
		t.Errorf("after the reset of a: a %d, b %d; want 2 and 0", a, b)
	}
	if err := l.Reset(ctx, ""); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("reset of no key: %v", err)
	}
	f.err = &weir.Error{Code: weir.CodeRefused}
	if err := l.Reset(ctx, "a"); weir.CodeOf(err) != weir.CodeRefused {
		t.Errorf("reset of a store that is down: %v", err)
	}
}

// TestDelayIsTheLongest: each leaky bucket asks for its own wait.
func TestDelayIsTheLongest(t *testing.T) {
	l := newLimiter(t, newFake(), "10/s leaky_bucket", "60/m burst 10 leaky_bucket")
	allowed(t, l, "a", 1)
	if d, err := l.Allow(ctx, "a"); err != nil || d.Delay != weir.Second {
		t.Errorf("%+v, %v; want a delay of 1 s", d, err)
	}
}

// TestWatchedDelaysNobody: a leaky bucket that only watches.
func TestWatchedDelaysNobody(t *testing.T) {
	l := newLimiter(t, newFake(), "60/m burst 10 leaky_bucket")
	for i := range 3 {
		var d weir.Decision
		if err := l.Check(ctx, Ask{Key: "a", Cost: 1, Mode: weir.Shadow}, &d); err != nil || !d.Allowed() || d.Delay != 0 {
			t.Errorf("request %d: %+v, %v", i+1, d, err)
		}
	}
}
