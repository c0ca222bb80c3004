package rlsload

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Open is a rate that does not wait for answers: call i is due i/Rate after the
// start. A latency counts from when its call was due, so one that a slow server
// or a busy machine kept from being sent counts in full.
type Open struct {
	Addr    string
	Script  Script
	Conns   int
	Rate    int           // calls a second
	WarmUp  time.Duration // calls due meanwhile are not counted
	Measure time.Duration
	Edge    func() // as of Closed
}

// Run sends for its time, and waits for the last answers.
func (l Open) Run(ctx context.Context) (*Tally, error) {
	if l.Conns < 1 || l.Rate < 1 || l.Rate > 1e6 {
		return nil, fmt.Errorf("%d calls a second on %d connections", l.Rate, l.Conns)
	}
	conns, err := dialAll(ctx, l.Addr, l.Conns)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	r := &openRun{Open: l, conns: conns, began: time.Now()}
	parts, errs := make([]Tally, l.Conns), make([]error, l.Conns+1)
	var done sync.WaitGroup
	for i, c := range conns {
		done.Go(func() { errs[i] = r.read(c, &parts[i]) })
	}
	sum := &Tally{Took: l.Measure}
	errs[l.Conns] = r.send(ctx, sum)
	r.over.Store(true)
	for _, c := range conns {
		// Readers that wait for nothing any more are to see that it is over.
		_ = c.nc.SetReadDeadline(time.Now().Add(r.patience(c)))
	}
	done.Wait()
	for i := range parts {
		sum.add(&parts[i])
	}
	return sum, errors.Join(append(errs, ctx.Err())...)
}

// openRun is a run under way.
type openRun struct {
	Open
	conns []*conn
	began time.Time
	over  atomic.Bool // all is sent
}

// patience is how long the last answers may take.
func (r *openRun) patience(c *conn) time.Duration {
	if c.underWay() == 0 {
		return time.Millisecond
	}
	return grace
}

// send sends what is due. It sleeps on a thread of its own: the runtime's timers
// are rounded up to a millisecond, more than an answer takes.
func (r *openRun) send(ctx context.Context, t *Tally) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	end, edges := r.WarmUp+r.Measure, 0
	edge := func(at, now time.Duration, nth int) {
		if edges == nth && now >= at {
			edges++
			if r.Edge != nil {
				r.Edge()
			}
		}
	}
	for i := uint64(0); ; {
		now := time.Since(r.began)
		edge(r.WarmUp, now, 0)
		// Who was held up at the end still sends all that was due before it.
		for ; r.at(i) <= now && r.at(i) < end; i++ {
			if err := r.conns[i%uint64(r.Conns)].sendOrPostpone(r.Script, i, r.at(i)); err != nil {
				if r.at(i) >= r.WarmUp {
					t.Unsent++
				}
			}
		}
		for _, c := range r.conns {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if now >= end || ctx.Err() != nil {
			edge(r.WarmUp, end, 0)
			edge(end, end, 1)
			return nil
		}
		if wait := r.at(i) - time.Since(r.began); wait > 0 {
			ts := syscall.NsecToTimespec(int64(wait))
			_ = syscall.Nanosleep(&ts, nil) // woken early, it looks at the clock again
		}
	}
}

// at is when call i is due.
func (r *openRun) at(i uint64) time.Duration {
	rate := uint64(r.Rate)
	return time.Duration(i/rate)*time.Second + time.Duration(i%rate*uint64(time.Second)/rate)
}

// read counts a connection's answers.
func (r *openRun) read(c *conn, t *Tally) error {
	var now time.Duration
	first := true
	done := func(p reply) {
		if first {
			now, first = time.Since(r.began), false
		}
		if p.due >= r.WarmUp {
			t.count(p, now-p.due)
		}
	}
	for {
		first = true
		err := c.receive(done)
		over := r.over.Load() && c.underWay() == 0
		switch {
		case over:
			return nil
		case err != nil:
			return err
		}
		c.resume(r.Script)
		if err := c.flush(); err != nil { // what was postponed, and acknowledgements
			return err
		}
	}
}
