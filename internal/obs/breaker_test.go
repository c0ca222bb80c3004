package obs

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestBreaker(t *testing.T) {
	m := New(Options{})
	h := m.Hooks()
	h.StoreCall(weir.StoreCall{Shard: "b:1"})
	h.Breaker("a:1", weir.BreakerOpen)
	h.Breaker("a:1", weir.BreakerHalfOpen)
	h.Breaker("a:1", weir.BreakerOpen)
	h.Breaker("a:1", 7) // nothing that is known
	got := scrape(t, m)
	got.only(t, "weir_breaker_state", samples{
		`weir_breaker_state{shard="a:1"}`: 1,
		`weir_breaker_state{shard="b:1"}`: 0,
	})
	got.want(t, samples{
		`weir_breaker_transitions_total{shard="a:1",state="open"}`:      2,
		`weir_breaker_transitions_total{shard="a:1",state="half_open"}`: 1,
		`weir_breaker_transitions_total{shard="a:1",state="closed"}`:    0,
		`weir_breaker_transitions_total{shard="b:1",state="open"}`:      0,
	})
	h.Breaker("a:1", weir.BreakerClosed)
	scrape(t, m).want(t, samples{
		`weir_breaker_state{shard="a:1"}`:                            0,
		`weir_breaker_transitions_total{shard="a:1",state="closed"}`: 1,
	})
}

func TestBreakersAreBounded(t *testing.T) {
	m := New(Options{})
	for i := range 2 * maxShards {
		m.Hooks().Breaker(fmt.Sprintf("10.0.0.%d:6379", i), weir.BreakerOpen)
	}
	got := scrape(t, m)
	if n := len(got.of("weir_breaker_state")); n != maxShards {
		t.Errorf("%d states", n)
	}
	got.want(t, samples{`weir_breaker_transitions_total{shard="other",state="open"}`: maxShards})
}

func TestInstances(t *testing.T) {
	m := New(Options{})
	for _, name := range []string{"weir_instances", "weir_clock_offset_seconds", "weir_clock_offset_error_seconds"} {
		if n := len(scrape(t, m).of(name)); n != 0 {
			t.Errorf("%s of what was never heard of", name)
		}
	}
	m.Instances(3)
	m.ClockOffset(-1500*time.Millisecond, 200*time.Microsecond)
	scrape(t, m).want(t, samples{
		`weir_instances`:                  3,
		`weir_clock_offset_seconds`:       -1.5,
		`weir_clock_offset_error_seconds`: 0.0002,
	})
}
