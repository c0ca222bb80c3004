package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/h2client"
	"github.com/weirlimit/weir/internal/loadgen"
)

// transport sends calls over one API. It tells what becomes of each through
// run.answered, and sends what that returns in its place.
type transport interface {
	// Send returns false when too many are under way.
	Send(c h2client.Call) bool
	Flush()
	Outstanding() int
	Close()
}

var _ transport = (*h2client.Client)(nil)

// run is a Run under way. Instants are since its making.
type run struct {
	plan    Plan
	began   time.Time
	tallies []*tally

	start, warm, stop atomic.Int64 // instants, once they are known
	next              atomic.Int64 // request
	over              atomic.Bool
	usedUp            chan struct{} // of 1: the requests of a closed loop
}

func (r *run) clock() time.Duration { return time.Since(r.began) }

// Run sends a plan's requests until its time, its requests or ctx end, and
// waits for the last answers, Plan.Timeout at most. When ctx ends, there is a
// result of what there was.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.setDefaults(); err != nil {
		return nil, err
	}
	r := &run{plan: p, began: time.Now(), usedUp: make(chan struct{}, 1)}
	for range max(p.Conns, 1) {
		r.tallies = append(r.tallies, &tally{})
	}
	t, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	start := r.clock()
	r.start.Store(int64(start))
	r.warm.Store(int64(start + p.Warmup))
	r.stop.Store(int64(start + p.Warmup + p.For))

	watch, err := r.watch()
	if err != nil {
		return nil, err
	}
	if p.Rate > 0 {
		r.open(ctx, t)
	} else {
		r.closed(ctx, t)
	}
	end := min(r.clock(), time.Duration(r.stop.Load()))
	cpu, cpuErr := watch.end()
	r.over.Store(true)
	r.drain(t)
	t.Close()

	res, heard := sum(r.tallies)
	if res.Gone { // the time in which nobody was there is not the server's
		end = min(end, heard)
	}
	res.Plan, res.Took, res.CPU = p, max(end-time.Duration(r.warm.Load()), 0), cpu
	res.Numbers = min(r.next.Load(), r.most())
	return res, errors.Join(cpuErr, context.Cause(ctx))
}

func (r *run) most() int64 {
	if r.plan.Most > 0 {
		return r.plan.Most
	}
	return 1 << 62
}

// take returns the next request of a closed loop, due now.
func (r *run) take(now time.Duration) (h2client.Call, bool) {
	if r.over.Load() || now >= time.Duration(r.stop.Load()) {
		return h2client.Call{}, false
	}
	n := r.next.Add(1) - 1
	if n >= r.most() {
		select {
		case r.usedUp <- struct{}{}:
		default:
		}
		return h2client.Call{}, false
	}
	return h2client.Call{N: n, Due: now}, true
}

// answered counts an answer and, in a closed loop, returns what to ask next.
func (r *run) answered(a h2client.Answer) (h2client.Call, bool) {
	r.tallies[a.Line%len(r.tallies)].count(&a, a.Due >= time.Duration(r.warm.Load()))
	if r.plan.Rate > 0 {
		return h2client.Call{}, false
	}
	return r.take(a.Now)
}

// closed starts the callers, which go on by themselves.
func (r *run) closed(ctx context.Context, t transport) {
	for range r.plan.Callers {
		call, ok := r.take(r.clock())
		if !ok || !t.Send(call) {
			break
		}
	}
	t.Flush()
	timer := time.NewTimer(time.Duration(r.stop.Load()) - r.clock())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-r.usedUp:
		r.drain(t) // they are part of it
	}
}

const (
	// minPause is how long what is due is gathered: at high rates a wake-up for
	// each would be most of what this program does.
	minPause = 50 * time.Microsecond
	// maxPause is how long it may take to notice that a run is ended.
	maxPause = 50 * time.Millisecond
)

// open sends what is due. What there is no room for waits, and its time runs.
func (r *run) open(ctx context.Context, t transport) {
	start, stop := time.Duration(r.start.Load()), time.Duration(r.stop.Load())
	schedule := loadgen.Schedule{Rate: int64(r.plan.Rate), Span: stop - start}
	total := min(schedule.Total(), r.most())
	pacer := newPacer()
	defer pacer.end()
	next := int64(0)
	for next < total {
		if ctx.Err() != nil {
			r.next.Store(next)
			return
		}
		now := r.clock()
		due := min(schedule.Due(now-start), total)
		for ; next < due; next++ {
			if !t.Send(h2client.Call{N: next, Due: start + schedule.At(next)}) {
				break
			}
		}
		t.Flush()
		wait := start + schedule.At(next) - r.clock()
		if next < due { // no room
			if now > stop+r.plan.Timeout {
				break
			}
			wait = 4 * minPause
		}
		pacer.pause(min(max(wait, minPause), maxPause))
	}
	r.next.Store(total)
	for ; next < total; next++ {
		a := h2client.Answer{Call: h2client.Call{N: next, Due: start + schedule.At(next)}, Now: r.clock(), Failure: failUnsent}
		r.answered(a)
	}
	if r.plan.Most > 0 {
		return // done before its time
	}
	select {
	case <-time.After(stop - r.clock()):
	case <-ctx.Done():
	}
}

// drain waits for the last answers.
func (r *run) drain(t transport) {
	for end := r.clock() + r.plan.Timeout + time.Second; t.Outstanding() > 0 && r.clock() < end; {
		time.Sleep(time.Millisecond)
	}
}
