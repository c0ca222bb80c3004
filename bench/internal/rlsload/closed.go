package rlsload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/latency"
)

// Closed is callers who ask, wait for the answer and ask again.
type Closed struct {
	Addr    string
	Script  Script
	Conns   int // of which each has Callers/Conns callers
	Callers int
	WarmUp  time.Duration // not counted
	Measure time.Duration
	// Calls, when not 0, ends the run after as many, shared by the connections.
	Calls uint64
	// Edge, when not nil, is called as what is counted begins and as it ends.
	Edge func()
}

// Tally is what was counted of a run.
type Tally struct {
	Took     time.Duration
	Answered uint64 // all that follow together
	OK       uint64
	Denied   uint64
	Failed   uint64 // no decision: another grpc-status, or an answer that is none
	Status   int    // the last of the other grpc-statuses
	Unsent   uint64 // of an open loop: due, but too many others were
	Latency  latency.Histogram
}

// Rate is decisions a second.
func (t *Tally) Rate() float64 {
	if t.Took <= 0 {
		return 0
	}
	return float64(t.OK+t.Denied) / t.Took.Seconds()
}

// Run asks until its time is over, and waits for the last answers. The servers
// must keep the connections open.
func (l Closed) Run(ctx context.Context) (*Tally, error) {
	if l.Conns < 1 || l.Callers < l.Conns || l.Callers > l.Conns*slots/2 {
		return nil, fmt.Errorf("%d callers on %d connections", l.Callers, l.Conns)
	}
	r := &closedRun{Closed: l, began: time.Now()}
	conns, err := dialAll(ctx, l.Addr, l.Conns)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	parts, errs := make([]Tally, l.Conns), make([]error, l.Conns)
	var done sync.WaitGroup
	for i, c := range conns {
		done.Go(func() { errs[i] = r.serve(c, uint64(i), &parts[i]) })
	}
	finished := make(chan struct{})
	go func() { done.Wait(); close(finished) }()
	took := r.clock(ctx, conns, finished)
	<-finished
	sum := &Tally{Took: took}
	for i := range parts {
		sum.add(&parts[i])
	}
	return sum, errors.Join(append(errs, ctx.Err())...)
}

// closedRun is a run under way.
type closedRun struct {
	Closed
	began time.Time
	phase atomic.Int32
}

// The phases of a run.
const (
	warming int32 = iota
	measuring
	stopping
)

// grace bounds the wait for the last answers.
const grace = 10 * time.Second

// clock changes the phases, and returns how long was measured.
func (r *closedRun) clock(ctx context.Context, conns []*conn, finished <-chan struct{}) time.Duration {
	wait := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		case <-finished:
		}
	}
	edge := func(phase int32) time.Time {
		if r.Edge != nil {
			r.Edge()
		}
		r.phase.Store(phase)
		return time.Now()
	}
	wait(r.WarmUp)
	start := edge(measuring)
	wait(r.Measure)
	end := edge(stopping)
	for _, c := range conns {
		_ = c.nc.SetReadDeadline(time.Now().Add(grace)) // a closed connection has ended its reader
	}
	return end.Sub(start)
}

// serve is one connection's callers, the i-th part of the script.
func (r *closedRun) serve(c *conn, i uint64, t *Tally) error {
	const apart = 1 << 40 // beyond every script: connections do not ask in step
	next, end := i*apart, uint64(1<<63)
	step := uint64(1)
	if r.Calls > 0 {
		next, step, end = i, uint64(r.Conns), r.Calls
	}
	var now time.Duration
	var failed error
	send := func() {
		if next >= end || failed != nil {
			return
		}
		failed = c.send(r.Script, next, now)
		next += step
	}
	now = time.Since(r.began)
	for range r.Callers / r.Conns {
		send()
	}
	var phase int32
	first := true
	done := func(p reply) {
		if first { // of those read at once: they came at one instant
			now, first, phase = time.Since(r.began), false, r.phase.Load()
		}
		if phase == measuring {
			t.count(p, now-p.due)
		}
		if phase != stopping {
			send()
		}
	}
	for c.underWay() > 0 {
		if err := c.flush(); err != nil {
			return err
		}
		first = true
		if err := c.receive(done); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// count adds an answer that took so long.
func (t *Tally) count(p reply, took time.Duration) {
	t.Answered++
	code, err := Code(0), error(nil)
	if p.status == 0 {
		code, err = verdict(p.body)
	}
	switch {
	case p.status != 0 || err != nil:
		t.Failed++
		t.Status = p.status
		return
	case code != CodeOK && code != CodeOverLimit:
		t.Failed++
		return
	case code == CodeOverLimit:
		t.Denied++
	default:
		t.OK++
	}
	t.Latency.Record(took)
}

func (t *Tally) add(o *Tally) {
	t.Answered += o.Answered
	t.OK += o.OK
	t.Denied += o.Denied
	t.Failed += o.Failed
	t.Unsent += o.Unsent
	t.Status = max(t.Status, o.Status)
	t.Latency.Merge(&o.Latency)
}

func dialAll(ctx context.Context, addr string, n int) ([]*conn, error) {
	var conns []*conn
	for range n {
		c, err := dial(ctx, addr)
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		_ = c.close() // nothing more is read or written
	}
}
