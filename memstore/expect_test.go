package memstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// DecideNow decides as Submit does, at the instant it is given, with a hint or
// without, while tables grow.
func TestDecideNow(t *testing.T) {
	m := meter(t, "2/h gcra")
	s := memstore.New()
	began := time.Since(s.Started())
	for i := range 3000 {
		for turn, want := range []bool{true, true, false} {
			key := fmt.Sprintf("%s%d", strings.Repeat("k", i%300), i)
			b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}}}}
			hint := s.Expect(key)
			if turn == 2 {
				if hint = s.Approach(key); hint != 0 {
					s.Fetch(key, hint)
				}
			}
			if turn == 1 {
				hint = 0
			}
			s.DecideNow(&b, began, hint)
			if e := &b.Entries[0]; e.Err != nil || e.Admitted != want || e.Outcomes[0].OK != want {
				t.Fatalf("key %d, turn %d: admitted %v, error %v", i, turn, e.Admitted, e.Err)
			}
		}
	}
	// Half an hour later a unit has come back.
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: "0", Meter: m, Cost: 1}}}}}
	first := b.Entries[0]
	for _, at := range []time.Duration{time.Minute, 31 * time.Minute} {
		want := at > 30*time.Minute
		b.Entries[0] = first
		if s.DecideNow(&b, began+at, 0); b.Entries[0].Admitted != want {
			t.Errorf("after %v: admitted %v", at, b.Entries[0].Admitted)
		}
		if !want && b.Entries[0].Outcomes[0].RetryAfter != 29*weir.Minute {
			t.Errorf("after %v: retry after %d", at, b.Entries[0].Outcomes[0].RetryAfter)
		}
	}
}

// A hint is of a batch's only key: where there are more it is not gone by.
func TestDecideNowOfMany(t *testing.T) {
	m := meter(t, "1/h gcra")
	s := memstore.New()
	b := weir.Batch{Entries: []weir.Entry{
		{Charges: []weir.Charge{{Key: "a", Meter: m, Cost: 1}}},
		{Charges: []weir.Charge{{Key: "b", Meter: m, Cost: 1}}},
	}}
	s.DecideNow(&b, time.Since(s.Started()), s.Expect("a"))
	if !b.Entries[0].Admitted || !b.Entries[1].Admitted || s.Len() != 2 {
		t.Errorf("admitted %v and %v, %d keys", b.Entries[0].Admitted, b.Entries[1].Admitted, s.Len())
	}
	s.Submit(&b, func(*weir.Batch) {})
	if b.Entries[0].Admitted || b.Entries[1].Admitted {
		t.Errorf("admitted %v and %v again: one was stored elsewhere", b.Entries[0].Admitted, b.Entries[1].Admitted)
	}
}

func TestDecideNowRefuses(t *testing.T) {
	s := memstore.New()
	one := func() *weir.Batch {
		return &weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: "a", Meter: meter(t, "1/h"), Cost: 1}}}}}
	}
	late := one()
	late.Deadline = time.Now().Add(-time.Second)
	s.DecideNow(late, time.Since(s.Started()), 0)
	if got := weir.CodeOf(late.Entries[0].Err); got != weir.CodeTimeout {
		t.Errorf("past the deadline: %v", late.Entries[0].Err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := one()
	s.DecideNow(closed, time.Since(s.Started()), s.Expect("a"))
	if got := weir.CodeOf(closed.Entries[0].Err); got != weir.CodeClosed {
		t.Errorf("closed: %v", closed.Entries[0].Err)
	}
}

// A store with a clock of its own goes by that.
func TestDecideNowByOwnClock(t *testing.T) {
	clock := newTestClock()
	s := memstore.New(clock.option())
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: "a", Meter: meter(t, "1/h gcra"), Cost: 1}}}}}
	for _, c := range []struct {
		move weir.Micros
		want bool
	}{{0, true}, {weir.Minute, false}, {weir.Hour, true}} {
		clock.move(c.move)
		if s.DecideNow(&b, 0, 0); b.Entries[0].Admitted != c.want {
			t.Errorf("after %d more: admitted %v", c.move, b.Entries[0].Admitted)
		}
	}
}
