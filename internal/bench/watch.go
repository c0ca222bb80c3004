package bench

import (
	"errors"
	"sync"
	"time"
)

// watch reads processor times at the end of the warm-up and at the end of all,
// and tells how it goes in between.
type watch struct {
	run   *run
	stop  chan struct{}
	ended sync.WaitGroup

	from    []time.Duration // of each process
	answers uint64          // until then
	err     error
}

func (r *run) watch() (*watch, error) {
	w := &watch{run: r, stop: make(chan struct{})}
	w.from, w.err = r.used() // also to see whether they are there
	if w.err != nil {
		return nil, w.err
	}
	w.answers, _ = r.answers()
	w.ended.Go(w.look)
	return w, nil
}

func (w *watch) look() {
	r := w.run
	warm := time.NewTimer(time.Duration(r.warm.Load()) - r.clock())
	defer warm.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last, at := uint64(0), r.clock()
	for {
		select {
		case <-w.stop:
			return
		case <-warm.C:
			from, err := r.used()
			if err != nil {
				w.err = err
				return
			}
			w.from = from
			w.answers, _ = r.answers()
		case <-tick.C:
			if r.plan.Progress == nil {
				continue
			}
			n, failed := r.answers()
			now := r.clock()
			r.plan.Progress(Progress{
				At: now - time.Duration(r.start.Load()), Warming: now < time.Duration(r.warm.Load()),
				Answered: n, Failed: failed, Rate: float64(n-last) / max(now-at, 1).Seconds(),
			})
			last, at = n, now
		}
	}
}

// end stops looking, and returns what was used for each request.
func (w *watch) end() ([]CPU, error) {
	used, err := w.run.used()
	answers, _ := w.run.answers()
	close(w.stop)
	w.ended.Wait()
	if err = errors.Join(w.err, err); err != nil {
		return nil, err
	}
	var out []CPU
	for i, p := range w.run.plan.Processes {
		c := CPU{Process: p, Used: used[i] - w.from[i]}
		if n := answers - w.answers; n > 0 {
			c.PerRequest = c.Used / time.Duration(n)
		}
		out = append(out, c)
	}
	return out, nil
}

// used is the processor time of each process so far.
func (r *run) used() ([]time.Duration, error) {
	out := make([]time.Duration, len(r.plan.Processes))
	for i, p := range r.plan.Processes {
		var err error
		if out[i], err = p.used(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// answers is how many there were so far, of the warm-up too.
func (r *run) answers() (n, failed uint64) {
	for _, t := range r.tallies {
		t.mu.Lock()
		n += t.mu.answers
		failed += t.mu.failures
		t.mu.Unlock()
	}
	return n, failed
}
