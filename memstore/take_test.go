package memstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

func TestTakeEqualsSubmit(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h := newHistory(t, seed)
			h.changing = seed%2 == 0
			clock := newTestClock()
			a, b := memstore.New(clock.option()), memstore.New(clock.option())
			for range 3000 {
				clock.move(h.step())
				c := h.charge()
				c.Cost = int64(h.IntN(5))
				if c.Meter.Machine == weir.Slots {
					continue
				}
				got := take(t, a, c.Key, c.Meter, c.Cost)
				e := decide(t, b, weir.Entry{Charges: []weir.Charge{c}})[0]
				if e.Err != nil || got != e.Outcomes[0] || got.OK != e.Admitted || e.Now != clock.now() {
					t.Fatalf("Take says %+v, Submit %+v", got, e)
				}
			}
		})
	}
}

func TestTakeRefusesWhatValidateDoes(t *testing.T) {
	m := meter(t, "5/s")
	s := memstore.New()
	for _, c := range []struct {
		name  string
		key   string
		meter *weir.Meter
		cost  int64
	}{
		{"empty key", "", m, 1},
		{"long key", strings.Repeat("k", weir.MaxKeyBytes+1), m, 1},
		{"no meter", "k", nil, 1},
		{"meter not made", "k", new(weir.Meter), 1},
		{"negative cost", "k", m, -1},
		{"concurrency without id", "k", meter(t, "5 concurrency 1m"), 1},
	} {
		e := weir.Entry{Charges: []weir.Charge{{Key: c.key, Meter: c.meter, Cost: c.cost}}}
		want, got := e.Validate(), error(nil)
		_, got = s.Take(c.key, c.meter, c.cost)
		var typed *weir.Error
		if !errors.As(got, &typed) || typed.Code != weir.CodeInvalid || typed.Field == "" || got.Error() != want.Error() {
			t.Errorf("%s: error %v, want %v", c.name, got, want)
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d keys are held after refusals", s.Len())
	}
	if o := take(t, s, strings.Repeat("k", weir.MaxKeyBytes), m, 1); !o.OK {
		t.Error("the longest key is denied")
	}
}
