package loadgen

import (
	"context"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

// Load is what to send. Rate, For and Fill are required.
type Load struct {
	Rate int           // requests a second, at most a million
	For  time.Duration // at most a day
	Keys Keys
	// Fill writes the request of a key. The request is used again for others
	// once it is answered, and keeps what Fill last put there.
	Fill func(key uint64, r *weir.Request)
	// Answered, when not nil, is told of every answer, one at a time and in the
	// order in which they come. It must not block, nor keep d.
	Answered func(a Answer)

	// Outstanding bounds the requests that are not answered yet; what is due
	// beyond it is counted and not sent. Default 4096.
	Outstanding int
	// Slack is how late a request may leave and still be in time. Default 100 ms.
	Slack time.Duration
	// Grace is how long to wait for the last answers. Default 5 s.
	Grace time.Duration
	// Step is the length of the result's steps. Default 100 ms. It is more where
	// there would be more than 6000 of them, each with a histogram of 4 KiB.
	Step time.Duration
}

// Answer is what became of one request.
type Answer struct {
	Key      uint64
	Due      time.Duration // from the start of the run
	Took     time.Duration // since it was due
	Decision *weir.Decision
	Err      error // not nil: there is no decision
}

func (l *Load) setDefaults() error {
	switch {
	case l.Rate < 1 || l.Rate > 1e6:
		return invalid("rate", "is outside 1 to 1000000 a second")
	case l.For <= 0 || l.For > 24*time.Hour:
		return invalid("for", "is outside a day")
	case l.Fill == nil:
		return invalid("fill", "is missing")
	}
	l.Outstanding = orDefault(l.Outstanding, 4096)
	l.Slack = orDefault(l.Slack, 100*time.Millisecond)
	l.Grace = orDefault(l.Grace, 5*time.Second)
	l.Step = max(orDefault(l.Step, 100*time.Millisecond), l.For/maxSteps)
	return nil
}

const maxSteps = 6000

func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

func invalid(field, message string) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}

// Run sends the load to c until its time or ctx ends, and returns once the last
// request is answered, or Load.Grace later. An error is a load that cannot be.
func Run(ctx context.Context, c weir.AsyncChecker, l Load) (*Result, error) {
	if err := l.setDefaults(); err != nil {
		return nil, err
	}
	r := &run{load: l, schedule: Schedule{int64(l.Rate), l.For}, checker: c, idle: make(chan struct{}, 1)}
	r.mu.result = &Result{Load: l, Began: time.Now()}
	r.began = r.mu.result.Began
	r.send(ctx)
	r.drain()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.over = true
	return r.mu.result, nil
}

// run is a Run under way.
type run struct {
	load     Load
	schedule Schedule
	checker  weir.AsyncChecker
	began    time.Time
	idle     chan struct{} // of 1; told when nothing is outstanding

	mu struct {
		sync.Mutex
		result      *Result
		outstanding int
		free        []*ask
		over        bool // what is answered now comes too late to count
	}
}

// ask is one request under way, used again for others.
type ask struct {
	run      *run
	request  weir.Request
	decision weir.Decision
	done     func(error) // a method value, made once
	key      uint64
	due      time.Duration
}

// send is the loop. It sleeps until the next request is due, and then sends all
// that are: it may have been held up.
func (r *run) send(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next, total := int64(0), r.schedule.Total(); next < total; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		for due := r.schedule.Due(time.Since(r.began)); next < due; next++ {
			if a := r.take(next); a != nil {
				r.checker.Submit(&a.request, &a.decision, a.done)
			}
		}
		timer.Reset(r.schedule.At(next) - time.Since(r.began))
	}
}

// take returns request i, ready to be sent, or nil when too many are out.
func (r *run) take(i int64) *ask {
	key, due, now := r.load.Keys.At(i), r.schedule.At(i), time.Since(r.began)
	r.mu.Lock()
	full := r.mu.outstanding >= r.load.Outstanding
	late := now-due > r.load.Slack
	r.eachLocked(due, func(s *Step) {
		s.Due++
		if !full {
			s.Sent++
		}
		if !full && late {
			s.Late++
		}
	})
	if full {
		r.mu.Unlock()
		return nil
	}
	r.mu.outstanding++
	var a *ask
	if n := len(r.mu.free); n > 0 {
		a, r.mu.free = r.mu.free[n-1], r.mu.free[:n-1]
	}
	r.mu.Unlock()
	if a == nil {
		a = &ask{run: r}
		a.done = a.answered
	}
	a.key, a.due = key, due
	r.load.Fill(key, &a.request)
	return a
}

// answered counts an answer and makes the request ready for another.
func (a *ask) answered(err error) {
	r := a.run
	now := time.Since(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.over {
		return
	}
	r.eachLocked(a.due, func(s *Step) { s.count(&a.decision, err, now-a.due) })
	if r.load.Answered != nil {
		r.load.Answered(Answer{Key: a.key, Due: a.due, Took: now - a.due, Decision: &a.decision, Err: err})
	}
	r.mu.free = append(r.mu.free, a)
	if r.mu.outstanding--; r.mu.outstanding == 0 {
		select {
		case r.idle <- struct{}{}:
		default:
		}
	}
}

// eachLocked applies f to the step in which something was due, and to the total.
func (r *run) eachLocked(due time.Duration, f func(*Step)) {
	res := r.mu.result
	i := int(due / r.load.Step)
	for len(res.Steps) <= i {
		res.Steps = append(res.Steps, Step{})
	}
	f(&res.Steps[i])
	f(&res.Total)
}

// drain waits for the last answers.
func (r *run) drain() {
	timer := time.NewTimer(r.load.Grace)
	defer timer.Stop()
	for {
		r.mu.Lock()
		n := r.mu.outstanding
		r.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-r.idle:
		case <-timer.C:
			return
		}
	}
}
