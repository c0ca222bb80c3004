package shed

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/line"
)

// Worker sheds what this process cannot serve. Make one with NewWorker.
//
// While there is a place for everybody, its state is one number: how many are
// inside. When that is not enough to know, the number has the flag busy, and
// everybody goes through the line, under its lock, until that is calm again.
type Worker struct {
	options Options
	start   time.Time
	places  int64
	inside  atomic.Int64 // or busy, when the line counts
	shed    [weir.Priorities][Reasons]atomic.Uint64

	mu struct {
		sync.Mutex
		line *line.Line
	}
}

// busy is above any number of places.
const busy = int64(1) << 62

// NewWorker returns a worker, or what is wrong with the options.
func NewWorker(o Options) (*Worker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	w := &Worker{options: o, start: time.Now(), places: int64(o.Places)}
	w.mu.line = line.New(line.Options{
		Places: o.Places, Waiting: o.Waiting,
		Target: micros(o.Target), Interval: micros(o.Interval), Recovery: micros(o.Recovery),
		Settled: func(x *line.Waiter) { close(x.Wake) },
	})
	return w, nil
}

func micros(d time.Duration) weir.Micros { return weir.Micros(d.Microseconds()) }

// now is the time since w was made, which does not go back.
func (w *Worker) now() weir.Micros { return micros(time.Since(w.start)) }

// Enter asks for a place, and waits for one where it must, until ctx ends at the
// latest. With Admitted the ticket is to be given back by its Leave; it is of no
// use otherwise.
func (w *Worker) Enter(ctx context.Context, p Priority) (Ticket, Reason) {
	for {
		n := w.inside.Load()
		if n >= w.places {
			return w.queue(ctx, p)
		}
		if w.inside.CompareAndSwap(n, n+1) {
			return Ticket{worker: w, priority: p}, Admitted
		}
	}
}

// queue is Enter when it is not certain that there is a place.
func (w *Worker) queue(ctx context.Context, p Priority) (Ticket, Reason) {
	now := w.lock()
	answer, x := w.mu.line.Arrive(now, p.Index())
	if x != nil {
		x.Wake = make(chan struct{})
	}
	w.unlock()
	t := Ticket{worker: w, priority: p, waiter: x}
	switch {
	case answer == line.Inside:
		return t, Admitted
	case w.options.Shadow:
		if answer.Shed() {
			w.tell(p, reasonOf(answer))
			t = Ticket{}
		}
		return t, Admitted
	case answer != line.Waits:
		w.tell(p, reasonOf(answer))
		return Ticket{}, reasonOf(answer)
	}
	why := w.wait(ctx, x)
	if why != Admitted {
		w.tell(p, why)
		return Ticket{}, why
	}
	if hook := w.options.Hooks.Waited; hook != nil {
		hook(p, (x.Until - x.Since).Duration())
	}
	return Ticket{worker: w, priority: p}, Admitted
}

// wait waits for what becomes of x.
func (w *Worker) wait(ctx context.Context, x *line.Waiter) Reason {
	timer := time.NewTimer(w.options.MaxWait)
	defer timer.Stop()
	why := Gone
	select {
	case <-x.Wake:
		return reasonOf(x.Answer)
	case <-ctx.Done():
	case <-timer.C:
		why = WaitedOut
	}
	now := w.lock()
	defer w.unlock()
	switch {
	case w.mu.line.GiveUp(now, x):
		return why
	case x.Answer == line.Inside && why == Gone: // a place that nobody is there to take
		w.mu.line.Leave(now)
		return Gone
	}
	return reasonOf(x.Answer)
}

// reasonOf is a line's answer in this package's words.
func reasonOf(a line.Answer) Reason {
	switch a {
	case line.ShedLevel:
		return Overload
	case line.ShedFull:
		return LineFull
	case line.Gone:
		return Gone
	}
	return Admitted
}

// lock locks the line and makes it the one that counts. It returns the time.
func (w *Worker) lock() weir.Micros {
	w.mu.Lock()
	if n := w.inside.Or(busy); n < busy {
		w.mu.line.SetInside(int(n))
	}
	return w.now()
}

// unlock unlocks it, and counts without it again when nothing else is left to
// know.
func (w *Worker) unlock() {
	if w.mu.line.Calm() {
		w.inside.Store(int64(w.mu.line.Inside()))
	}
	w.mu.Unlock()
}
