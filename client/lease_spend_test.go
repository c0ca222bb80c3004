package client

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// leaseAt is a lease that ends in 100 ms by a clock that the test turns.
func leaseAt(granted int64) (l *Lease, turn func(time.Duration)) {
	start := time.Now()
	var passed atomic.Int64
	l = &Lease{Granted: granted, until: start.Add(100 * time.Millisecond), now: func() time.Time {
		return start.Add(time.Duration(passed.Load()))
	}}
	l.wall = l.until.Round(0)
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
// the wall clock does not: it is then further on than the other knows.
func TestSuspendedMachine(t *testing.T) {
	l, _ := leaseAt(10)
	if l.wall = l.wall.Add(-99 * time.Millisecond); !l.Spend(1) {
		t.Error("asleep for 99 ms of 100")
	}
	if l.wall = l.wall.Add(-time.Millisecond); l.Spend(1) {
		t.Error("asleep for all of it")
	}
}

// slowLimiter grants after what takes a while by the test's clock.
type slowLimiter struct {
	weirv1.LimiterClient
	answer func() *weirv1.LeaseResponse
}

func (s slowLimiter) Lease(context.Context, *weirv1.LeaseRequest, ...grpc.CallOption) (*weirv1.LeaseResponse, error) {
	return s.answer(), nil
}

// TestLifeCountsFromBeforeTheCall: nobody knows when within the call the units
// were charged, so it counts as time of the lease.
func TestLifeCountsFromBeforeTheCall(t *testing.T) {
	start := time.Now()
	now := start
	c := &Client{config: config{deadline: time.Minute}, limiter: slowLimiter{answer: func() *weirv1.LeaseResponse {
		now = now.Add(30 * time.Millisecond)
		return &weirv1.LeaseResponse{Code: weirv1.Code_CODE_OK, Granted: 2, ExpiresAfterUs: 100_000}
	}}}
	l, err := c.lease(t.Context(), &weir.Request{Domain: "d"}, 5, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	end := 100*time.Millisecond - time.Millisecond - 100*time.Microsecond
	if got := l.Ends().Sub(start); got != end {
		t.Errorf("ends after %v, want %v", got, end)
	}
	if now = start.Add(end - 1); !l.Spend(1) {
		t.Error("before the end")
	}
	if now = start.Add(end); l.Spend(1) {
		t.Error("at the end")
	}
}

func TestNoLeaseSpendsNothing(t *testing.T) {
	var none *Lease
	if none.Spend(1) || none.Left() != 0 || !none.Ended() || !none.Ends().IsZero() || new(Lease).Spend(1) {
		t.Error("a lease of nothing spends")
	}
}
