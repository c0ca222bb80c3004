package redisstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// load is a number of callers, each of which decides one entry after the
// other until it is stopped.
type load struct {
	stop     atomic.Bool
	wg       sync.WaitGroup
	admitted atomic.Int64
	denied   atomic.Int64
	mu       sync.Mutex
	errs     []error
}

// startLoad has callers decide what next returns for (caller, round).
func startLoad(s *Store, callers int, next func(caller, round int) weir.Entry) *load {
	l := new(load)
	for c := range callers {
		l.wg.Go(func() {
			for r := 0; !l.stop.Load(); r++ {
				e := decide(s, next(c, r))
				switch {
				case e.Err != nil:
					l.mu.Lock()
					l.errs = append(l.errs, e.Err)
					l.mu.Unlock()
				case e.Admitted:
					l.admitted.Add(1)
				default:
					l.denied.Add(1)
				}
			}
		})
	}
	return l
}

// progress waits until so many more have been decided.
func (l *load) progress(t testing.TB, n int64) {
	t.Helper()
	from := l.admitted.Load() + l.denied.Load()
	eventually(t, "the load to go on", func() error {
		if got := l.admitted.Load() + l.denied.Load() - from; got < n {
			return fmt.Errorf("%d of %d decisions; errors: %v", got, n, l.errors())
		}
		return nil
	})
}

// exhaust waits until so many have been admitted in all.
func (l *load) exhaust(t testing.TB, n int64) {
	t.Helper()
	eventually(t, "all to be used up", func() error {
		if got := l.admitted.Load(); got < n {
			return fmt.Errorf("%d of %d admitted, %d denied; errors: %v", got, n, l.denied.Load(), l.errors())
		}
		return nil
	})
}

func (l *load) errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs[:min(len(l.errs), 5)]
}

// end stops the callers and returns the errors they got.
func (l *load) end() []error {
	l.stop.Store(true)
	l.wg.Wait()
	return l.errs
}

// endClean fails the test on any error.
func (l *load) endClean(t testing.TB) {
	t.Helper()
	if errs := l.end(); len(errs) > 0 {
		t.Errorf("%d errors, such as %v", len(errs), errs[0])
	}
	t.Logf("%d admitted, %d denied, 0 errors", l.admitted.Load(), l.denied.Load())
}

func TestSurviveScriptFlush(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1_000_000)
	l := startLoad(s, 8, func(int, int) weir.Entry { return one("k", m) })
	for range 100 {
		srv.MustDo("SCRIPT", "FLUSH")
		l.progress(t, 5)
	}
	l.endClean(t)
	if got := used(t, s, "k", m); got != l.admitted.Load() {
		t.Errorf("%d units in use after %d admissions", got, l.admitted.Load())
	}
}

func TestSurviveFlushall(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1_000_000)
	l := startLoad(s, 8, func(c, r int) weir.Entry {
		return withID(one("k", m), fmt.Sprint(c, "/", r))
	})
	for range 20 {
		srv.MustDo("FLUSHALL")
		l.progress(t, 10)
	}
	l.endClean(t)
}

// What is asked while the server is down waits for it, as long as its deadline
// allows. Only what was under way when it died may fail, once per caller.
func TestSurviveRestart(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: lost.hooks(), Breaker: patient})
	m := still(1_000_000)
	const callers = 6
	l := startLoad(s, callers, func(int, int) weir.Entry { return one("k", m) })
	for range 3 {
		l.progress(t, 100)
		before := len(l.errorsAll())
		srv.Stop()
		underWay := func() int { return len(l.errorsAll()) - before }
		// Every caller now waits in a call that it made after the stop, or is
		// about to make one.
		eventually(t, "the callers to wait", func() error { return queueLength(s, callers) })
		if n := underWay(); n > callers {
			t.Errorf("%d errors of %d callers", n, callers)
		}
		settled := underWay()
		srv.Restart()
		l.progress(t, 100)
		if n := underWay() - settled; n > 0 {
			t.Errorf("%d of those who waited got an error: %v", n, l.errors())
		}
	}
	errs := l.end()
	for _, err := range errs {
		wantCode(t, err, weir.CodeRefused)
	}
	if got := lost.of(weir.LossUncertain); got < int64(len(errs)) {
		t.Errorf("%d errors, but only %d are counted as uncertain", len(errs), got)
	}
	t.Logf("%d admitted, %d were under way in three restarts", l.admitted.Load(), len(errs))
}

func (l *load) errorsAll() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs
}
