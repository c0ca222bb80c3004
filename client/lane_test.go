package client

import (
	"strings"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// newTestLane is a lane without a stream: the test is both ends of it.
func newTestLane(outstanding int) *lane {
	c := &Client{config: config{deadline: time.Minute, outstanding: outstanding}, epoch: time.Now()}
	return newLane(c)
}

func request(value string) *weir.Request {
	return &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: value}}}}}
}

// TestCheckDoesNotAllocate: not on its way out, and of its answer only what
// decoding it takes.
func TestCheckDoesNotAllocate(t *testing.T) {
	l := newTestLane(4)
	r, w := request("acme"), &waiter{wake: make(chan struct{}, 1)}
	var d weir.Decision
	in := &weirv1.CheckBatchResponse{Results: []*weirv1.CheckResponse{{
		Code: weirv1.Code_CODE_OK, Allowed: true, Quota: &weirv1.Quota{Rule: "p", Count: 3},
	}}}
	var batch []*call
	if n := testing.AllocsPerRun(100, func() {
		if err := l.submit(ticket{req: r, dec: &d, wait: w}, time.Second, 10); err != nil {
			t.Fatal(err)
		}
		batch, _ = l.take(batch[:0])
		in.Results[0].Number = batch[0].asked.Message.Number
		l.wrote(batch)
		l.answer(in)
		<-w.wake
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if !d.Allowed() || d.Rule != "p" || l.mu.outstanding != 0 || len(l.mu.calls) != 1 {
		t.Errorf("%+v, %d outstanding of %d", d, l.mu.outstanding, len(l.mu.calls))
	}
}

// TestTakeKeepsToTheBounds of a message: checks and bytes.
func TestTakeKeepsToTheBounds(t *testing.T) {
	for _, tc := range []struct {
		value string
		most  int
	}{{"x", wire.MaxChecks}, {strings.Repeat("x", 256), maxMessage / 256}} {
		l := newTestLane(3000)
		for range 3000 {
			if err := l.submit(ticket{req: request(tc.value), dec: &weir.Decision{}}, time.Second, 10); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.submit(ticket{req: request("y"), dec: &weir.Decision{}}, time.Second, 10); weir.CodeOf(err) != weir.CodeOverload {
			t.Errorf("more than may be outstanding: %v", err)
		}
		seen := map[uint64]bool{}
		for len(l.mu.queue) > 0 {
			batch, _ := l.take(nil)
			size := 0
			for _, c := range batch {
				seen[c.number] = true
				size += c.asked.Size
			}
			if len(batch) == 0 || len(batch) > tc.most || size > maxMessage {
				t.Fatalf("%d checks, %d bytes", len(batch), size)
			}
		}
		if len(seen) != 3000 {
			t.Errorf("%d of 3000 checks were sent", len(seen))
		}
	}
}

// TestWhoMayTouchACall goes through what can happen to a check between its being
// queued and its memory being another's: the writer may still have it when it is
// answered, and an answer may be for who had the place before.
func TestWhoMayTouchACall(t *testing.T) {
	type step string
	for name, tc := range map[string]struct {
		steps []step
		free  int // places that may be used again, of 1
	}{
		"answered after it was written":    {[]step{"take", "wrote", "answer"}, 1},
		"answered while it is written":     {[]step{"take", "answer"}, 0},
		"which ends":                       {[]step{"take", "answer", "wrote"}, 1},
		"overdue in the queue":             {[]step{"expire"}, 0},
		"which is not sent":                {[]step{"expire", "take nothing"}, 1},
		"overdue while it is written":      {[]step{"take", "expire", "wrote"}, 1},
		"answered when overdue":            {[]step{"take", "wrote", "expire", "late"}, 1},
		"answered twice":                   {[]step{"take", "wrote", "answer", "late"}, 1},
		"the stream breaks, unsent":        {[]step{"broke"}, 1},
		"the stream breaks, sent":          {[]step{"take", "wrote", "broke"}, 1},
		"the stream breaks, overdue":       {[]step{"expire", "broke"}, 1},
		"the stream breaks, sent, overdue": {[]step{"take", "wrote", "expire", "broke"}, 1},
	} {
		l := newTestLane(1)
		late := 0
		l.client.hooks.Lost = func(kind weir.Loss, n int) {
			if kind == weir.LossLateAnswer {
				late += n
			}
		}
		w := &waiter{wake: make(chan struct{}, 2)}
		if err := l.submit(ticket{req: request("a"), dec: &weir.Decision{}, wait: w}, time.Second, 10); err != nil {
			t.Fatal(err)
		}
		number := l.mu.calls[0].number
		var batch []*call
		wantLate := 0
		for _, s := range tc.steps {
			switch s {
			case "take", "take nothing":
				if batch, _ = l.take(nil); (len(batch) == 1) != (s == "take") {
					t.Errorf("%s: took %d", name, len(batch))
				}
			case "wrote":
				l.wrote(batch)
			case "answer", "late":
				if s == "late" {
					wantLate++
				}
				l.answer(&weirv1.CheckBatchResponse{Results: []*weirv1.CheckResponse{{Number: number, Code: weirv1.Code_CODE_OK}}})
			case "expire":
				l.mu.Lock()
				var due []ticket
				l.mu.wheel.expire(10, func(c *call) { due = append(due, l.detachLocked(c)) })
				l.mu.Unlock()
				for _, t := range due {
					l.client.undecided(t, errTimeout)
				}
			case "broke":
				l.broke()
			}
		}
		if len(w.wake) != 1 || late != wantLate || len(l.mu.free) != tc.free || l.mu.outstanding != 0 || l.mu.wheel.n != 0 {
			t.Errorf("%s: answered %d times, %d late, %d free, %d outstanding, %d on the wheel",
				name, len(w.wake), late, len(l.mu.free), l.mu.outstanding, l.mu.wheel.n)
		}
	}
}
