package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// gauge is the value of a metric without labels, or of its first series; -1
// while there is none.
func (w *instance) gauge(name string) float64 {
	w.t.Helper()
	family := w.metrics()[name]
	if len(family.GetMetric()) == 0 {
		return -1
	}
	return family.GetMetric()[0].GetGauge().GetValue()
}

func (w *instance) awaitGauge(name string, want float64) {
	w.t.Helper()
	await(w.t, fmt.Sprintf("%s of %v", name, want), func() error {
		if got := w.gauge(name); got != want {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
}

// TestInstances: servers on one Redis count each other, also one that stops and
// one that is killed; while Redis is away the last count holds, and before it
// was there that of --instances.
func TestInstances(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	redis.Stop()
	args := []string{"--redis", redis.Addr(), "--instances", "5"}
	a := serve(t, args...)
	a.awaitGauge("weir_instances", 5)
	if got := a.gauge("weir_clock_offset_seconds"); got != -1 {
		t.Errorf("a clock offset of %v to nobody", got)
	}
	redis.Restart()
	a.awaitGauge("weir_instances", 1)
	// Both processes read the same clock.
	if got := a.gauge("weir_clock_offset_seconds"); got < -0.5 || got > 0.5 {
		t.Errorf("a clock offset of %v s", got)
	}
	b, c := serve(t, args...), serve(t, args...)
	a.awaitGauge("weir_instances", 3)
	b.stop()
	a.awaitGauge("weir_instances", 2)
	redis.Pause()
	a.awaitDegraded(true)
	a.awaitGauge("weir_instances", 2)
	redis.Resume()
	c.signal(syscall.SIGKILL)
	a.awaitGauge("weir_instances", 1)
}

// TestBreakerIsTold: what the breaker does is in the metrics, and in the log
// once each way, not once a request.
func TestBreakerIsTold(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 1_000_000, "open"))
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "50ms")
	anything := func(*weirv1.CheckResponse, time.Duration) error { return nil }
	l := &load{t: t, conn: dial(t, w.grpc), look: anything}
	l.begin(8)
	l.awaitMore(50)
	w.awaitGauge("weir_breaker_state", 0)
	redis.Stop()
	const left, used = "is left alone", "is used again"
	await(t, "the log to tell it", w.err.has(left))
	if w.gauge("weir_breaker_state") < 1 {
		t.Error("the gauge says closed")
	}
	await(t, "refusals among the reasons", func() error {
		if !strings.Contains(w.page("/metrics"), `reason="breaker"`) {
			return fmt.Errorf("there are none")
		}
		return nil
	})
	redis.Restart()
	await(t, "the log to tell it", w.err.has(used))
	w.awaitGauge("weir_breaker_state", 0)
	l.stop()
	log := w.err.String()
	if a, b := strings.Count(log, left), strings.Count(log, used); a > 3 || b > a {
		t.Errorf("the log tells it %d and %d times:\n%s", a, b, log)
	}
}
