package policyfile

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/weirlimit/weir/policy"
)

// patience is how long a test waits for what must come. Nothing is decided by
// how fast it does.
const patience = 20 * time.Second

// told is one call of Watch's callback.
type told struct {
	serves string
	report Report
}

// listener runs Watch and keeps what it tells.
type listener struct {
	*bench
	cancel context.CancelFunc
	done   chan error

	mu  sync.Mutex
	log []told
	new chan struct{} // has an element when log grew
}

// watch starts Watch, and stops it when the test ends.
func (b *bench) watch() *listener {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &listener{bench: b, cancel: cancel, done: make(chan error, 1), new: make(chan struct{}, 1)}
	go func() {
		w.done <- b.l.Watch(ctx, func(set *policy.Set, r Report) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.log = append(w.log, told{b.lang.holds(set), r})
			select {
			case w.new <- struct{}{}:
			default:
			}
		})
	}()
	b.Cleanup(func() { w.stop() })
	return w
}

// stop ends Watch and waits for it; twice is once.
func (w *listener) stop() {
	w.cancel()
	select {
	case err := <-w.done:
		w.done <- nil
		if err != nil {
			w.Errorf("watch ended with %v", err)
		}
	case <-time.After(patience):
		w.Error("watch does not end")
	}
}

func (w *listener) all() []told {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]told(nil), w.log...)
}

// until waits for something to be told.
func (w *listener) until(what string, ok func(t *told) bool) told {
	w.Helper()
	limit := time.After(patience)
	for seen := 0; ; {
		log := w.all()
		for ; seen < len(log); seen++ {
			if ok(&log[seen]) {
				return log[seen]
			}
		}
		select {
		case <-w.new:
		case <-limit:
			var last told
			if len(log) > 0 {
				last = log[len(log)-1]
			}
			w.Fatalf("never told of %s; %d calls, the last with %q:\n%s", what, len(log), last.serves, problems(&last.report))
		}
	}
}

// serves waits for a set.
func (w *listener) serves(want string) told {
	w.Helper()
	return w.until(want, func(t *told) bool { return t.serves == want })
}

// complains waits for a problem.
func (w *listener) complains(want string) told {
	w.Helper()
	return w.until(want, func(t *told) bool { return strings.Contains(problems(&t.report), want) })
}
