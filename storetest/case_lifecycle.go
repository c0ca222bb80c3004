package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
)

// wantCode checks an error's code.
func (p *probe) wantCode(what string, err error, want weir.Code) {
	p.Helper()
	if err == nil || weir.CodeOf(err) != want {
		p.Fatalf("%s: error %v, want code %s", what, err, want)
	}
}

// checkDeadline asks when it is too late, or when nobody waits for the answer.
// Nothing is charged then.
func checkDeadline(p *probe) {
	m := still(10)
	a, b := p.key("a"), p.key("b")
	entries := func() []weir.Entry {
		return []weir.Entry{
			{Charges: []weir.Charge{{Key: a, Meter: m, Cost: 1}}},
			{ID: "late", Charges: []weir.Charge{{Key: a, Meter: m, Cost: 1}, {Key: b, Meter: m, Cost: 1}}},
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	past, future := time.Now().Add(-time.Millisecond), time.Now().Add(patience)
	for _, try := range []struct {
		what     string
		ctx      context.Context
		deadline time.Time
		want     weir.Code
	}{
		{"deadline passed", context.Background(), past, weir.CodeTimeout},
		{"context canceled", canceled, future, weir.CodeCanceled},
		{"context expired", expired, future, weir.CodeTimeout},
	} {
		batch := weir.Batch{Entries: entries(), Deadline: try.deadline}
		p.Store.Decide(try.ctx, &batch)
		for _, e := range batch.Entries {
			p.wantCode(try.what, e.Err, try.want)
		}
	}
	late := &weir.Batch{Entries: entries(), Deadline: past}
	p.submit(late, func(*weir.Batch) {})
	for _, e := range late.Entries {
		p.wantCode("submitted after its deadline", e.Err, weir.CodeTimeout)
	}
	p.wantUsed(a, m, 0)
	p.wantUsed(b, m, 0)
	for i, e := range p.decide(entries()...) {
		p.wantFresh(e, true)
		if used := e.Outcomes[0].Before.Used; used != int64(i) {
			p.Fatalf("entry %d finds %d in use", i, used)
		}
	}
}

// checkClose closes a store while it is asked, and calls everything on it then.
func checkClose(p *probe) {
	m, key := still(10), p.key("a")
	p.take("", weir.Charge{Key: key, Meter: m, Cost: 1})
	var closed atomic.Bool
	p.parallel(workers, func(w int) error {
		for i := 0; ; i++ {
			if w == 0 && i == 10 {
				err := p.Store.Close()
				closed.Store(true)
				return err
			}
			open := !closed.Load()
			e := p.ask(weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}})[0]
			switch {
			case e.Err == nil && open:
			case e.Err != nil && weir.CodeOf(e.Err) == weir.CodeClosed:
				return nil
			default:
				return fmt.Errorf("asked around the close: error %v, want code closed", e.Err)
			}
		}
	})
	for i := range 2 {
		if err := p.Store.Close(); err != nil {
			p.Fatalf("close %d: %v", i+1, err)
		}
	}
	for _, e := range p.ask(
		weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}},
		weir.Entry{ID: "closed", Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}},
	) {
		p.wantCode("decide", e.Err, weir.CodeClosed)
	}
	b := &weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}}}}
	p.submit(b, func(*weir.Batch) {})
	p.wantCode("submit", b.Entries[0].Err, weir.CodeClosed)
	_, err := p.patient().read(key, m)
	p.wantCode("read", err, weir.CodeClosed)
	p.wantCode("reset", p.patient().reset(key), weir.CodeClosed)
}

// checkExpiry looks at how long states are held: never shorter than they
// count, never for ever, and not at all when they are empty.
func checkExpiry(p *probe) {
	if p.Holds == nil {
		p.Skip("what this store holds cannot be seen")
	}
	for _, text := range []string{
		"10/s burst 10", "3/365d burst 3", "60/m token_bucket", "10/m burst 10 leaky_bucket",
		"5/m fixed_window", "5/m", "100/h", "9/s sliding_log", "4 concurrency 1h",
	} {
		m, key := meter(text), p.key(text)
		p.wantGone(text+", untouched", key)
		p.take("id", weir.Charge{Key: key, Meter: m, Cost: 1, Mode: weir.Peek})
		p.wantGone(text+", peeked", key)
		p.take("id", weir.Charge{Key: key, Meter: m, Cost: m.Capacity + 1})
		p.wantGone(text+", denied", key)
		for i := range 3 { // the first write makes the key, the others find it
			p.wantHeld(text, string(rune('a'+i)), weir.Charge{Key: key, Meter: m, Cost: 1})
		}
		p.reset(key)
		p.wantGone(text+", reset", key)
		p.take("id", weir.Charge{Key: key, Meter: m, Cost: 1})
		p.take("id", weir.Charge{Key: key, Meter: m, Cost: 1, Mode: weir.Refund})
		p.wantGone(text+", refunded", key)
	}
	checkExpiryOfChange(p)
}

// checkExpiryOfChange makes a limit slower: what is in use then counts for
// longer, though nothing is charged.
func checkExpiryOfChange(p *probe) {
	for _, pair := range [][2]string{{"10/s burst 10", "10/d burst 10"}, {"10/m", "10/d"}, {"5/m sliding_log", "5/h sliding_log"}} {
		fast, slow, key := meter(pair[0]), meter(pair[1]), p.key("slower "+pair[0])
		p.take("", weir.Charge{Key: key, Meter: fast, Cost: fast.Capacity})
		p.wantHeld("denied after a change to "+pair[1], "", weir.Charge{Key: key, Meter: slow, Cost: slow.Capacity})
	}
}

// wantHeld charges and looks at how long the key is then held. A store may keep
// a state for two steps of its meter's grid after it has expired, and some more
// for the granularity of its clock.
func (p *probe) wantHeld(what, id string, c weir.Charge) {
	p.Helper()
	p.wantHeldAs(what, id, c, c.Key)
}

// wantHeldAs is wantHeld for a name that need not be the charge's key.
func (p *probe) wantHeldAs(what, id string, c weir.Charge, key string) {
	p.Helper()
	began := time.Now()
	o := p.take(id, c).Outcomes[0]
	in, held := p.Holds(key)
	const slack = 10 * time.Millisecond
	least := o.ResetAfter.Duration() - time.Since(began) - slack
	most := (o.ResetAfter + 2*c.Meter.Grid).Duration() + slack
	switch {
	case !held && least > 0:
		p.Fatalf("%s: no state is held", what)
	case held && in <= 0:
		p.Fatalf("%s: the state is held for ever, want it gone after %v", what, most)
	case held && (in < least || in > most):
		p.Fatalf("%s: the state is held for %v, want %v to %v", what, in, least, most)
	}
}

func (p *probe) wantGone(what, key string) {
	p.Helper()
	if in, held := p.Holds(key); held {
		p.Fatalf("%s: a state is held for %v, want none", what, in)
	}
}
