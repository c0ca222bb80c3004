package policyfile

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// Watch keeps the policies current until ctx ends, and then returns nil, with
// nothing left running. It returns an error when another Watch runs.
//
// It calls fn with the set to serve, to be swapped in, and the Report, whenever
// either says something new, and after every Reload; at once if there was no
// Load or something changed since. The set is nil as long as there is nothing to
// serve. fn runs on Watch's goroutine: the next pass waits for it.
func (l *Loader) Watch(ctx context.Context, fn func(*policy.Set, Report)) error {
	if !l.watching.CompareAndSwap(false, true) {
		return &weir.Error{Code: weir.CodeInternal, Message: "the policies are being watched already"}
	}
	defer l.watching.Store(false)
	w := watcher{Loader: l, fn: fn, wait: debounce{quiet: l.opts.Quiet, most: l.opts.Delay}}
	w.set, w.told = l.Current()
	ev, err := l.opts.events()
	if err != nil {
		w.ev = noEvents{err}
	} else {
		w.ev = ev
		defer func() { _ = ev.close() }() // nothing depends on it any more
	}
	w.loop(ctx)
	return nil
}

// watcher is one Watch.
type watcher struct {
	*Loader
	fn   func(*policy.Set, Report)
	ev   events
	wait debounce

	// What fn was told last.
	set  *policy.Set
	told Report
}

//	event, or a poll that finds a change
//
// idle ---------------------------------------------> waiting <-+ another event
//
//	^                                                   |    |   |
//	|                                                   |    +---+
//	+--------- pass <-----------------------------------+
//	            ^         quiet for Quiet, or Delay is over
//	            +--- Reload, at once
func (w *watcher) loop(ctx context.Context) {
	poll := time.NewTicker(w.opts.Poll)
	defer poll.Stop()
	timer := time.NewTimer(0) // the first pass sets the watches
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case path := <-w.ev.hits():
			if !w.matters(path) {
				continue
			}
		case <-poll.C:
			if w.wait.isPending() || !w.moved() {
				continue
			}
		case <-timer.C:
			w.wait.reset()
			if !w.tell(ctx, false) {
				continue
			}
		case <-w.reload:
			if !w.tell(ctx, true) {
				continue
			}
		}
		timer.Reset(w.wait.next(time.Now()))
	}
}

// matters tells whether an event at path is about policies.
func (w *watcher) matters(path string) bool {
	w.pass.Lock()
	defer w.pass.Unlock()
	return path == "" || w.view == nil || w.view.places.matters(path, w.names())
}

// tell makes a pass and tells fn what is new, or anything with force. It
// reports whether another pass is due.
func (w *watcher) tell(ctx context.Context, force bool) (again bool) {
	defer w.opts.Around()()
	again, err := w.run(ctx, w.ev, force)
	if err != nil {
		return false // ctx ended
	}
	w.announce(force)
	w.save() // after: a slow disk does not delay what is in service
	w.announce(false)
	return again
}

func (w *watcher) announce(always bool) {
	set, report := w.Current()
	if always || set != w.set || !report.same(w.told) {
		w.set, w.told = set, report
		w.fn(set, report)
	}
}

// noEvents stands in where the system has none to give.
type noEvents struct{ why error }

func (n noEvents) watch(places) error  { return n.why }
func (n noEvents) hits() <-chan string { return nil }
func (n noEvents) close() error        { return nil }

// debounce says when a change is to be read: once it is quiet, and at the
// latest a while after the first change.
type debounce struct {
	quiet, most time.Duration
	first       time.Time // of the changes waiting; zero when there are none
}

// next returns how long to wait after a change at now.
func (d *debounce) next(now time.Time) time.Duration {
	if d.first.IsZero() {
		d.first = now
	}
	return max(0, min(d.quiet, d.first.Add(d.most).Sub(now)))
}

// isPending tells whether a change waits to be read.
func (d *debounce) isPending() bool { return !d.first.IsZero() }

func (d *debounce) reset() { d.first = time.Time{} }
