package client_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
)

// slow is a fallback that takes a while, and need be waited for.
type slow struct{ running, ended atomic.Int32 }

func (s *slow) Check(_ context.Context, _ *weir.Request, d *weir.Decision) error {
	s.running.Add(1)
	time.Sleep(300 * time.Millisecond)
	s.ended.Add(1)
	d.Verdict = weir.Allow
	return nil
}

// TestCloseAnswersWhatIsSubmitted: when Close returns, everything was answered,
// also by a fallback that is no AsyncChecker.
func TestCloseAnswersWhatIsSubmitted(t *testing.T) {
	s := serveAs(t, &scripted{batch: func(b weirv1.Limiter_CheckBatchServer) error { <-b.Context().Done(); return nil }})
	local := &slow{}
	c, err := client.New(s.addr, client.WithFallback(local), client.WithDeadline(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int32
	var d weir.Decision
	c.Submit(ask("tenant", "a"), &d, func(error) { answered.Add(1) })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if answered.Load() != 1 || local.running.Load() != local.ended.Load() {
		t.Errorf("Close has returned: %d answered, %d of the fallback's checks run and %d have ended",
			answered.Load(), local.running.Load(), local.ended.Load())
	}
}
