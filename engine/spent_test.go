package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// spent makes a request for units that are used up already.
func spent(cost int64, dimensions ...string) *weir.Request {
	r := ask(dimensions...)
	r.Cost, r.Descriptors[0].Spent = cost, true
	return r
}

// eachStore runs a test on memory, with a clock that wait turns, and on Redis,
// where wait waits.
func eachStore(t *testing.T, test func(t *testing.T, store weir.Store, wait func(weir.Micros))) {
	t.Run("memory", func(t *testing.T) {
		now := weir.MicrosAt(time.Unix(1_800_000_000, 0))
		s := memstore.New(memstore.WithClock(func() weir.Micros { return now }))
		defer func() { _ = s.Close() }()
		test(t, s, func(span weir.Micros) { now += span })
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		s, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{server.Addr()}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		test(t, s, func(span weir.Micros) { time.Sleep(span.Duration()) })
	})
}

// TestSpentIsChargedWhateverFits: units spent past the limit are a debt. Until
// it has drained nothing passes, and then at the instant that was said.
func TestSpentIsChargedWhateverFits(t *testing.T) {
	for name, limit := range map[string]string{"gcra": "20/s burst 10", "window": "10/s sliding_window"} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store weir.Store, wait func(weir.Micros)) {
				e := start(t, store, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: ["+limit+"], on_failure: closed}\n")
				if d := check(t, e, spent(4, "tenant", "a")); !d.Allowed() || d.Remaining != 6 || d.Charges[0].Mode != weir.Always {
					t.Errorf("4 of 10: %+v", d)
				}
				d := check(t, e, spent(9, "tenant", "a"))
				if d.Allowed() || d.Reason != weir.ReasonExhausted || d.RetryAfter <= 0 || d.Remaining != 0 || d.Charges[0].Outcome.Granted != 9 {
					t.Errorf("9 where 6 are left: %+v", d)
				}
				one := check(t, e, ask("tenant", "a"))
				if one.Allowed() || one.RetryAfter <= 0 || one.RetryAfter == weir.Never {
					t.Fatalf("in debt: %+v", one)
				}
				wait(one.RetryAfter)
				if d := check(t, e, ask("tenant", "a")); !d.Allowed() {
					t.Errorf("after the debt: %+v", d)
				}
			})
		})
	}
}

// TestSpentAndARaisedLimit: state is what was consumed, debt too, so a higher
// limit frees the difference at once.
func TestSpentAndARaisedLimit(t *testing.T) {
	eachStore(t, func(t *testing.T, store weir.Store, _ func(weir.Micros)) {
		e := start(t, store, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: closed}\n")
		check(t, e, spent(15, "tenant", "a"))
		if d := check(t, e, ask("tenant", "a")); d.Allowed() {
			t.Fatalf("15 of 10 are used: %+v", d)
		}
		e.Swap(compile(t, "policies:\n  - {id: p, by: [tenant], limits: [12/h], on_failure: closed}\n"))
		if d := check(t, e, ask("tenant", "a")); d.Allowed() || d.Remaining != 0 {
			t.Errorf("15 of 12: %+v", d)
		}
		e.Swap(compile(t, "policies:\n  - {id: p, by: [tenant], limits: [18/h], on_failure: closed}\n"))
		if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Remaining != 2 {
			t.Errorf("15 of 18: %+v", d)
		}
	})
}

// TestSpentIsBounded: a counter holds MaxUsed units and says what it took.
func TestSpentIsBounded(t *testing.T) {
	eachStore(t, func(t *testing.T, store weir.Store, _ func(weir.Micros)) {
		e := start(t, store, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: closed}\n")
		check(t, e, spent(6, "tenant", "a"))
		d := check(t, e, spent(1<<40, "tenant", "a"))
		if d.Allowed() || d.Reason != weir.ReasonTooCostly || d.Charges[0].Outcome.Granted != weir.MaxUsed-6 {
			t.Errorf("got %+v", d)
		}
	})
}

// TestSpentOfSeveralRules: a limit that is over keeps no other from being
// charged; shadow stays shadow, and requests in progress are not begun.
func TestSpentOfSeveralRules(t *testing.T) {
	eachStore(t, func(t *testing.T, store weir.Store, _ func(weir.Micros)) {
		e := start(t, store, weir.Hooks{}, `
policies:
  - {id: small, by: [tenant], limits: [5/h], on_failure: open}
  - {id: large, by: [tenant], limits: [100/h], concurrency: 1, on_failure: open}
  - {id: watched, by: [tenant], limits: [5/h], mode: shadow, on_failure: open}
`)
		d := check(t, e, spent(8, "tenant", "a"))
		if d.Allowed() || d.Rule != "small" || len(d.Charges) != 3 {
			t.Fatalf("got %+v", d)
		}
		for i, want := range []struct {
			rule    string
			mode    weir.Mode
			granted int64
		}{{"small", weir.Always, 8}, {"large", weir.Always, 8}, {"watched", weir.Shadow, 0}} {
			if c := d.Charges[i]; c.Rule != want.rule || c.Mode != want.mode || c.Outcome.Granted != want.granted {
				t.Errorf("charge %d: %+v, want %+v", i, c, want)
			}
		}
	})
}

// TestSpentOnceUnderAnID: a retry of a charge that did not fit is not charged
// again, as it was charged.
func TestSpentOnceUnderAnID(t *testing.T) {
	eachStore(t, func(t *testing.T, store weir.Store, _ func(weir.Micros)) {
		e := start(t, store, weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: closed}\n")
		r := spent(15, "tenant", "a")
		r.ID = "one"
		check(t, e, r)
		if d := check(t, e, r); !d.Replayed || d.Allowed() {
			t.Errorf("again: %+v", d)
		}
		look := ask("tenant", "a")
		look.Descriptors[0].HasCost = true
		if d := check(t, e, look); d.Charges[0].Outcome.Before.Used != 15 {
			t.Errorf("in use: %+v", d.Charges[0])
		}
	})
}

func TestSpentAndRefundExclude(t *testing.T) {
	e := start(t, memstore.New(), weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: closed}\n")
	r := spent(1, "tenant", "a")
	r.Descriptors[0].Refund = true
	var d weir.Decision
	if err := e.Check(context.Background(), r, &d); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("got %v", err)
	}
}
