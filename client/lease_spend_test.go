package client

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// leaseAt is a lease that ends in 100 ms by a clock that the test turns.
func leaseAt(granted int64) (l *Lease, turn func(time.Duration)) {
	start := time.Now()
	var passed atomic.Int64
	l = &Lease{Granted: granted, until: start.Add(100 * time.Millisecond), now: func() time.Time {
		return start.Add(time.Duration(passed.Load()))
	}}
	l.left.Store(granted)
	return l, func(d time.Duration) { passed.Add(int64(d)) }
}

func TestSpendsWhatWasGranted(t *testing.T) {
	l, _ := leaseAt(1000)
	var spent atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 400 {
				if n := int64(i%3 + 1); l.Spend(n) {
					spent.Add(n)
				}
			}
		})
	}
	wg.Wait()
	if spent.Load() != 1000 || l.Left() != 0 || l.Spend(1) {
		t.Errorf("%d spent of 1000, %d left", spent.Load(), l.Left())
	}
	few, _ := leaseAt(2)
	if few.Spend(3) || few.Spend(0) || few.Spend(-1) || few.Left() != 2 || !few.Spend(2) {
		t.Errorf("all or nothing: %d left", few.Left())
	}
}

// TestSpendsNothingAfterTheEnd: a process that was stopped past the end of its
// lease, wherever it was stopped, spends nothing when it goes on.
func TestSpendsNothingAfterTheEnd(t *testing.T) {
	l, turn := leaseAt(10)
	turn(100*time.Millisecond - 1)
	if !l.Spend(1) || l.Left() != 9 || l.Ended() {
		t.Error("a moment before the end")
	}
	turn(1)
	if l.Spend(1) || l.Left() != 0 || !l.Ended() {
		t.Error("at the end")
	}
	turn(time.Hour)
	if l.Spend(1) {
		t.Error("long after")
	}

	stopped, turn := leaseAt(10)
	at := stopped.now
	stopped.now = func() time.Time { // stopped between taking the units and looking at the clock
		turn(time.Second)
		return at()
	}
	if stopped.Spend(1) {
		t.Error("it was stopped inside Spend")
	}
}

// TestSuspendedMachine: the monotonic clock stands still while a machine sleeps,
// the wall clock does not.
func TestSuspendedMachine(t *testing.T) {
	l, _ := leaseAt(10)
	asleep := l.now().Round(0).Add(time.Minute) // no monotonic reading: by the wall alone
	l.now = func() time.Time { return asleep }
	if l.Spend(1) {
		t.Error("a minute later by the wall")
	}
}

func TestNoLeaseSpendsNothing(t *testing.T) {
	var none *Lease
	if none.Spend(1) || none.Left() != 0 || !none.Ended() || !none.Ends().IsZero() || new(Lease).Spend(1) {
		t.Error("a lease of nothing spends")
	}
}
