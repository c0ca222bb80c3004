package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
)

// checkEntryReuse decides entries whose answers are full of what an earlier
// decision left, in the memory they bring.
func checkEntryReuse(p *probe) {
	m := still(10)
	junk := weir.Outcome{
		OK: true, Granted: 99, Remaining: 99, ResetAfter: 99, RetryAfter: 99, Delay: 99,
		Before: weir.Usage{Used: 99, Since: 99},
	}
	memory := []weir.Outcome{junk, junk, junk, junk}
	dirty := func(cost int64, outcomes []weir.Outcome) weir.Entry {
		return weir.Entry{
			Charges:  []weir.Charge{{Key: p.key("a"), Meter: m, Cost: cost}, {Key: p.key("b"), Meter: m, Cost: cost}},
			Outcomes: outcomes, Admitted: true, Replayed: true, Now: 99, Err: errors.New("of an earlier decision"),
		}
	}
	for i, e := range []weir.Entry{dirty(11, memory), dirty(6, memory[:1]), dirty(6, nil), dirty(4, memory[:0])} {
		admitted := i%2 == 1
		charges := slices.Clone(e.Charges)
		e = p.decide(e)[0]
		p.wantFresh(e, admitted)
		if e.ID != "" || !slices.Equal(e.Charges, charges) {
			p.Fatalf("entry %d: what was asked was changed: id %q, %+v", i, e.ID, e.Charges)
		}
		if e.Now < 1000*weir.Day {
			p.Fatalf("entry %d: now = %d, not an instant", i, e.Now)
		}
		for j, o := range e.Outcomes {
			if o.OK != admitted || o.Delay != 0 || (o.RetryAfter == 0) != admitted || o.Granted == 99 || o.Before.Used == 99 {
				p.Fatalf("entry %d, outcome %d carries over what was there: %+v", i, j, o)
			}
		}
		if i != 2 && &e.Outcomes[0] != &memory[0] {
			p.Fatalf("entry %d: the outcomes are not in the memory it brought", i)
		}
	}
}

// poison overwrites all that a caller gets back with done.
func poison(b *weir.Batch, buffers [][]byte) {
	for _, buf := range buffers {
		for i := range buf {
			buf[i] = 'X'
		}
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		for j := range e.Charges {
			e.Charges[j] = weir.Charge{Cost: math.MinInt64}
		}
		for j := range e.Outcomes {
			e.Outcomes[j] = weir.Outcome{Granted: -1}
		}
		e.ID, e.Err = "XXX", errPoison
	}
}

var errPoison = errors.New("poison")

// checkMemory overwrites keys, ids, charges and outcomes as soon as done is
// called: a store that kept any of it now has counters under other names.
func checkMemory(p *probe) {
	const rounds = 30
	m := still(10)
	batches := make([]*weir.Batch, 0, rounds)
	key, id := make([]byte, 0, 64), make([]byte, 0, 64)
	for i := range rounds {
		// The same memory holds another key and id each time.
		key = append(key[:0], p.key(fmt.Sprintf("k%02d", i))...)
		id = append(id[:0], fmt.Sprintf("id%02d", i)...)
		b := &weir.Batch{Deadline: time.Now().Add(patience), Entries: []weir.Entry{{
			ID:       alias(id),
			Charges:  []weir.Charge{{Key: alias(key), Meter: m, Cost: 2}},
			Outcomes: make([]weir.Outcome, 0, 1),
		}}}
		p.submit(b, func(b *weir.Batch) {
			if e := &b.Entries[0]; e.Err != nil || !e.Admitted {
				p.Errorf("round %d: %v", i, e.Err)
			}
			poison(b, [][]byte{key, id})
		})
		batches = append(batches, b)
	}
	for i := range rounds {
		fresh := p.key(fmt.Sprintf("k%02d", i))
		p.wantUsed(fresh, m, 2)
		e := p.take(fmt.Sprintf("id%02d", i), weir.Charge{Key: fresh, Meter: m, Cost: 2})
		if !e.Replayed || e.Outcomes[0].Granted != 2 {
			p.Fatalf("round %d: the id or its answer is forgotten once its memory is overwritten: %+v", i, e.Outcomes)
		}
	}
	if err := p.Store.Close(); err != nil {
		p.Fatalf("close: %v", err)
	}
	for i, b := range batches {
		e := &b.Entries[0]
		if e.Err != errPoison || e.Outcomes[0].Granted != -1 || e.Charges[0].Cost != math.MinInt64 {
			p.Fatalf("round %d: the entry was written to after done: %+v", i, e)
		}
	}
}

// submit waits for done, which runs then first.
func (p *probe) submit(b *weir.Batch, then func(*weir.Batch)) {
	p.Helper()
	finished := make(chan struct{}, 16)
	p.Store.Submit(b, func(b *weir.Batch) {
		then(b)
		finished <- struct{}{}
	})
	p.await(finished)
}

func (p *probe) await(finished <-chan struct{}) {
	p.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		p.Fatalf("done was not called within %v", patience)
	}
}

// checkDone counts the calls: one for each batch, also an empty, invalid, late
// or closed one, with the batch that was submitted. done may submit the next.
func checkDone(p *probe) {
	m := still(1000)
	good := func() weir.Entry { return weir.Entry{Charges: []weir.Charge{{Key: p.key("a"), Meter: m, Cost: 1}}} }
	soon := time.Now().Add(patience)
	batches := []*weir.Batch{
		{Deadline: soon},
		{Deadline: soon, Entries: []weir.Entry{good()}},
		{Deadline: soon, Entries: []weir.Entry{good(), {}, good()}},
		{Deadline: soon, Entries: []weir.Entry{{}}},
		{Deadline: time.Now().Add(-time.Second), Entries: []weir.Entry{good()}},
		{Deadline: soon, Entries: []weir.Entry{good()}}, // after Close
	}
	calls := make([]atomic.Int32, len(batches))
	for i, b := range batches {
		if i == len(batches)-1 {
			checkDoneNested(p, good)
			checkDoneMany(p)
			if err := p.Store.Close(); err != nil {
				p.Fatalf("close: %v", err)
			}
		}
		p.submit(b, func(got *weir.Batch) {
			calls[i].Add(1)
			if got != b {
				p.Errorf("done was called with another batch than was submitted")
			}
		})
	}
	if err := p.Store.Close(); err != nil {
		p.Fatalf("second close: %v", err)
	}
	for i := range calls {
		if n := calls[i].Load(); n != 1 {
			p.Fatalf("done of batch %d was called %d times", i, n)
		}
	}
}

// checkDoneMany submits without waiting, and is told of each batch once.
func checkDoneMany(p *probe) {
	const batches = 200
	m, key := still(1000), p.key("many")
	finished := make(chan struct{}, 2*batches)
	var calls [batches]atomic.Int32
	var admitted atomic.Int64
	for i := range batches {
		b := &weir.Batch{Deadline: time.Now().Add(patience), Entries: []weir.Entry{{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}}}}
		p.Store.Submit(b, func(b *weir.Batch) {
			calls[i].Add(1)
			if e := &b.Entries[0]; e.Err == nil && e.Admitted {
				admitted.Add(1)
			}
			finished <- struct{}{}
		})
	}
	for range batches {
		p.await(finished)
	}
	for i := range calls {
		if n := calls[i].Load(); n != 1 {
			p.Fatalf("done of batch %d of many was called %d times", i, n)
		}
	}
	p.wantUsed(key, m, admitted.Load())
}

// checkDoneNested submits from within done, as a refund or a next window does:
// a store that holds a lock there would never answer.
func checkDoneNested(p *probe, entry func() weir.Entry) {
	p.Helper()
	finished := make(chan struct{}, 16)
	left := 3
	var next func(*weir.Batch)
	next = func(*weir.Batch) {
		if left--; left > 0 {
			p.Store.Submit(&weir.Batch{Deadline: time.Now().Add(patience), Entries: []weir.Entry{entry()}}, next)
			return
		}
		finished <- struct{}{}
	}
	go p.Store.Submit(&weir.Batch{Deadline: time.Now().Add(patience), Entries: []weir.Entry{entry()}}, next)
	p.await(finished)
}
