package redisstore

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// The watchdog answers an entry at about the moment at which its flight lands.
// Whoever loses must leave the call alone: its memory is soon another's.
func TestSubmitAnswersOnceWhenDeadlineAndAnswerMeet(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1_000_000)
	admit(t, s, one("warm", m))

	const submitters, rounds = 8, 1500
	var all, out sync.WaitGroup
	var answered, late atomic.Int64
	for g := range submitters {
		all.Go(func() {
			for r := range rounds {
				b := &weir.Batch{
					Entries:  []weir.Entry{one("a", m), one("b", m), one("c", m)},
					Deadline: time.Now().Add(time.Duration(100+(g*rounds+r)%900) * time.Microsecond),
				}
				var calls atomic.Int32
				out.Add(1)
				s.Submit(b, func(got *weir.Batch) {
					if got != b || calls.Add(1) != 1 {
						t.Errorf("called back %d times, with its own batch: %v", calls.Load(), got == b)
					}
					for i := range got.Entries {
						e := &got.Entries[i]
						if e.Err == nil && (!e.Admitted || len(e.Outcomes) != 1) {
							t.Errorf("an entry without an error has no answer: %+v", *e)
						}
						if e.Err != nil {
							late.Add(1)
						}
					}
					answered.Add(1)
					out.Done()
				})
				if r%8 == 7 {
					// Lets some be answered in time, and bounds the queue.
					if e := decide(s, one("pace", m)); e.Err != nil || !e.Admitted {
						t.Errorf("admitted %v, err %v, want an admission", e.Admitted, e.Err)
					}
				}
			}
		})
	}
	all.Wait()
	out.Wait()
	t.Logf("%d batches, %d entries past their deadline", answered.Load(), late.Load())
	if got := answered.Load(); got != submitters*rounds {
		t.Errorf("%d of %d batches were answered", got, submitters*rounds)
	}
}

func TestSubmitWithoutEntriesCallsBack(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	called := make(chan *weir.Batch, 1)
	b := &weir.Batch{}
	s.Submit(b, func(got *weir.Batch) { called <- got })
	if got := <-called; got != b {
		t.Error("called back with another batch")
	}
	s.Decide(context.Background(), b)
}

func TestSubmitPastItsDeadlineSendsNothing(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	admit(t, s, one("k", m))
	before := srv.CommandStats()["evalsha"]
	b := weir.Batch{Entries: []weir.Entry{one("k", m)}, Deadline: time.Now().Add(-time.Second)}
	s.Decide(context.Background(), &b)
	wantCode(t, b.Entries[0].Err, weir.CodeTimeout)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b = weir.Batch{Entries: []weir.Entry{one("k", m)}}
	s.Decide(ctx, &b)
	wantCode(t, b.Entries[0].Err, weir.CodeCanceled)
	if got := srv.CommandStats()["evalsha"] - before; got != 0 {
		t.Errorf("%d calls were made", got)
	}
}

func TestInvalidEntryDoesNotDisturbItsNeighbours(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	b := weir.Batch{Entries: []weir.Entry{one("a", m), one("", m), {}, one("b", m)}}
	s.Decide(context.Background(), &b)
	wantCode(t, b.Entries[1].Err, weir.CodeInvalid)
	wantCode(t, b.Entries[2].Err, weir.CodeInvalid)
	for _, i := range []int{0, 3} {
		if e := b.Entries[i]; e.Err != nil || !e.Admitted {
			t.Errorf("entry %d: admitted %v, err %v", i, e.Admitted, e.Err)
		}
	}
}

// Asked is the store's now: what was asked after its deadline is not sent, and
// what was asked long ago may still be in time.
func TestAskedIsNow(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	for _, c := range []struct {
		name      string
		asked, by time.Duration // from now on
		answered  bool
	}{
		{name: "just now", by: time.Minute, answered: true},
		{name: "long ago", asked: -time.Hour, by: time.Minute, answered: true},
		{name: "after its deadline", asked: 2 * time.Minute, by: time.Minute},
	} {
		now := time.Now()
		b := &weir.Batch{Entries: []weir.Entry{one("k", m)}, Asked: now.Add(c.asked), Deadline: now.Add(c.by)}
		answer := make(chan *weir.Batch, 1)
		s.Submit(b, func(b *weir.Batch) { answer <- b })
		e := &(<-answer).Entries[0]
		if c.answered != (e.Err == nil && e.Admitted) {
			t.Errorf("%s: admitted %v, err %v", c.name, e.Admitted, e.Err)
		}
		if !c.answered && weir.CodeOf(e.Err) != weir.CodeTimeout {
			t.Errorf("%s: %v, want a timeout", c.name, e.Err)
		}
	}
}
