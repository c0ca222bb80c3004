package ticks_test

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/ticks"
)

// Where the counter is usable it goes on, by at least as much as a clock that
// many use would need.
func TestRead(t *testing.T) {
	if !ticks.Usable() {
		if runs := ticks.Read() > 0; runs {
			t.Log("a counter that the system does not go by")
		}
		return
	}
	first, began := ticks.Read(), time.Now()
	for time.Since(began) < time.Millisecond {
	}
	if n := ticks.Read() - first; n < 1e5 || n > 1e12 {
		t.Errorf("%d ticks in a millisecond or more", n)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		ticks.Read()
	}
}
