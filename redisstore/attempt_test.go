package redisstore

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// lonePart is a part of an entry without the rest of it.
type lonePart struct {
	item
	done chan struct{}
}

func (p *lonePart) answered(*item)         {}
func (p *lonePart) soon()                  {}
func (p *lonePart) dropped()               { close(p.done) }
func (p *lonePart) settled(*item, *flight) { close(p.done) }

// admitPart admits e, whose keys have one slot, as a part that an attempt made.
func admitPart(t *testing.T, s *Store, e weir.Entry, attempt uint64) weir.Entry {
	t.Helper()
	p := &lonePart{done: make(chan struct{})}
	p.slot = s.slotOf(e.Charges[0].Key)
	now := s.now()
	p.init(&e, p, now, now+generous)
	p.identify(nil)
	p.flags |= flagTried
	p.attempt = attempt
	s.sendPart(&p.item)
	<-p.done
	if e.Err != nil || !e.Admitted {
		t.Fatalf("%v: %v", e.Charges, e.Err)
	}
	return e
}

// testUndoIsOfItsAttempt is a subtest of TestCluster: what another attempt charged, or
// was answered by, stays.
func testUndoIsOfItsAttempt(t *testing.T, c *cluster) {
	m := still(10)
	k := c.on(t, 0)
	e := weir.Entry{ID: "r", Charges: []weir.Charge{charge(k, m, 4)}}
	settled := func(what string, want int64) {
		t.Helper()
		for range 3 { // a decision after them has seen what they did
			admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 0)}})
		}
		if got := used(t, c.s, k, m); got != want {
			t.Errorf("%s: %d units in use, want %d", what, got, want)
		}
	}
	admitPart(t, c.s, e, 1)
	c.s.amend(e, c.s.slotOf(k), 2)
	settled("another's undo", 4)
	c.s.amend(e, c.s.slotOf(k), 1)
	settled("its own", 0)
	admitPart(t, c.s, e, 3)
	if again := admitPart(t, c.s, e, 4); !again.Replayed {
		t.Error("not known again")
	}
	c.s.amend(e, c.s.slotOf(k), 3)
	settled("its own, after another was answered by it", 4)
	c.s.amend(e, c.s.slotOf(k), 4)
	settled("that of who was answered by it", 4)
	if ttl, ok := c.node(k).MustDo("PTTL", c.record(t, e)).(int64); !ok || ttl < int64((9*time.Minute).Milliseconds()) {
		t.Errorf("the record lives for %d ms", ttl)
	}
}

// TestFailedRetryKeepsTheFirst sends an entry that was admitted again, as after an
// answer that was lost, while one of its nodes stands still.
func TestFailedRetryKeepsTheFirst(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0)
	rate, places := still(10), weir.MustMeter(weir.Limit{Algorithm: weir.Concurrency, Count: 10, Window: weir.Hour})
	for name, m := range map[string]*weir.Meter{"a rate": rate, "concurrency": places} {
		a, b := c.on(t, 0), c.on(t, 1)
		e := weir.Entry{ID: "r", Charges: []weir.Charge{charge(a, m, 1), charge(b, m, 1)}}
		admit(t, c.s, e)
		c.node(b).Pause()
		batch := weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(30 * time.Millisecond)}
		c.s.Decide(t.Context(), &batch)
		c.node(b).Resume()
		if batch.Entries[0].Err == nil {
			t.Fatal("decided without one of its nodes")
		}
		time.Sleep(300 * time.Millisecond) // in which an undo would come
		if ua, ub := used(t, c.s, a, m), used(t, c.s, b, m); ua != 1 || ub != 1 {
			t.Errorf("%s: %d and %d units are in use, want 1 and 1", name, ua, ub)
		}
	}
}

// TestHastyRetriesGiveNothingBack sends what was admitted again with a deadline that
// nothing meets.
func TestHastyRetriesGiveNothingBack(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0)
	m := still(10)
	a, b := c.on(t, 0), c.on(t, 1)
	admitted := 0
	for i := range 60 {
		e := weir.Entry{ID: string(rune('A' + i)), Charges: []weir.Charge{charge(a, m, 1), charge(b, m, 1)}}
		first := decide(c.s, e)
		if first.Err != nil {
			t.Fatal(first.Err)
		}
		if first.Admitted {
			admitted++
		}
		for range 3 {
			batch := weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(60 * time.Microsecond)}
			c.s.Decide(t.Context(), &batch)
		}
		time.Sleep(3 * time.Millisecond) // for what is undone
	}
	if admitted > 10 {
		t.Errorf("%d requests were admitted under a limit of 10", admitted)
	}
}

// TestLateUndoKeepsTheRetry: an attempt fails and opens the breaker of a node, so that
// its undo is put off; the next is answered by what it charged.
func TestLateUndoKeepsTheRetry(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0)
	o := c.opts
	o.Breaker = Breaker{Consecutive: 1, Span: -1, Cooldown: 50 * time.Millisecond}
	s := open(t, o)
	m := still(10)
	a, b := c.on(t, 0), c.on(t, 1)
	for _, k := range []string{a, b} { // connections and scripts
		admit(t, s, weir.Entry{Charges: []weir.Charge{charge(k, m, 0)}})
	}
	e := weir.Entry{ID: "r", Charges: []weir.Charge{charge(a, m, 1), charge(b, m, 1)}}
	c.node(a).Pause()
	batch := weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(30 * time.Millisecond)}
	s.Decide(t.Context(), &batch)
	c.node(a).Resume()
	if batch.Entries[0].Err == nil {
		t.Fatal("decided without one of its nodes")
	}
	var got weir.Entry
	eventually(t, "the retry", func() error {
		got = decide(s, e)
		return got.Err
	})
	if !got.Admitted {
		t.Fatalf("denied: %+v", got)
	}
	time.Sleep(2 * undoFor)
	if ua, ub := used(t, c.s, a, m), used(t, c.s, b, m); ua != 1 || ub != 1 {
		t.Errorf("%d and %d units are in use, want 1 and 1", ua, ub)
	}
}
