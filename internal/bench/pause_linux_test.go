package bench

import (
	"testing"
	"time"
)

// TestPauseIsShort: the runtime's own timers round 50 us up to a millisecond in a
// program that is idle otherwise. The shortest of many is what counts on a busy
// machine.
func TestPauseIsShort(t *testing.T) {
	p := newPacer()
	defer p.end()
	shortest := time.Hour
	for range 200 {
		began := time.Now()
		p.pause(minPause)
		took := time.Since(began)
		if took < minPause*9/10 {
			t.Fatalf("a pause of %v took %v", minPause, took)
		}
		shortest = min(shortest, took)
	}
	if shortest > 500*time.Microsecond {
		t.Errorf("the shortest pause of %v took %v", minPause, shortest)
	}
}
