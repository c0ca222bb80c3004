package chaos

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// attempts is how often a row is tried while the machine disturbs it, if the
// suite has not taken too long already.
const (
	attempts = 5
	tooLong  = 4 * time.Minute
)

// attempt is one try of a row: a testing.TB whose failure is not yet the test's.
type attempt struct {
	testing.TB
	// bound is how late a timer with nothing else to do may be before a row that
	// failed says nothing: as late as the deadline of its checks.
	bound time.Duration
	mu    struct {
		sync.Mutex
		failed   bool
		lines    []string
		cleanups []func()
		pulses   []pulse
	}
}

// try runs f to its end, with its cleanups, while the machine's pulse is taken.
func try(t testing.TB, f func(t testing.TB)) *attempt {
	a := &attempt{TB: t, bound: deadline}
	ctx, cancel := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() {
		beat(ctx, func(p pulse) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.mu.pulses = append(a.mu.pulses, p)
		})
	})
	a.in(func() { f(a) })
	a.cleanUp()
	cancel()
	beating.Wait()
	return a
}

// cleanUp runs the cleanups, the last first, also those they add.
func (a *attempt) cleanUp() {
	for {
		a.mu.Lock()
		n := len(a.mu.cleanups)
		if n == 0 {
			a.mu.Unlock()
			return
		}
		next := a.mu.cleanups[n-1]
		a.mu.cleanups = a.mu.cleanups[:n-1]
		a.mu.Unlock()
		a.in(next)
	}
}

// in runs f on a goroutine of its own, which FailNow may end.
func (a *attempt) in(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				a.Errorf("panic: %v\n%s", p, stack())
			}
		}()
		f()
	}()
	<-done
}

func stack() []byte {
	b := make([]byte, 16<<10)
	return b[:runtime.Stack(b, false)]
}

// disturbed tells whether the machine held up everybody, and for how long.
func (a *attempt) disturbed() (time.Duration, bool) {
	late := latest(a.pulses(), time.Time{}, time.Now())
	return late, late > a.bound
}

func (a *attempt) pulses() []pulse {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.mu.pulses)
}

// tell gives what the attempt has to say to the test.
func (a *attempt) tell(t testing.TB) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range a.mu.lines {
		t.Log(line)
	}
}

// why is the first thing that was broken.
func (a *attempt) why() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range a.mu.lines {
		if why, ok := strings.CutPrefix(line, broken); ok {
			why, _, _ = strings.Cut(why, "\n")
			return why
		}
	}
	return "nothing said"
}

// broken begins the lines of what failed.
const broken = "broken: "

func (a *attempt) note(failed bool, line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if failed {
		a.mu.failed = true
		line = broken + line
	}
	a.mu.lines = append(a.mu.lines, line)
}

// The methods of a testing.TB that are the attempt's own.

func (a *attempt) Cleanup(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.cleanups = append(a.mu.cleanups, f)
}

func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.failed
}

func (a *attempt) FailNow() {
	a.mu.Lock()
	a.mu.failed = true
	a.mu.Unlock()
	runtime.Goexit()
}

func (a *attempt) Fail()                     { a.note(true, "failed") }
func (a *attempt) Log(args ...any)           { a.note(false, fmt.Sprintln(args...)) }
func (a *attempt) Logf(f string, arg ...any) { a.note(false, fmt.Sprintf(f, arg...)) }
func (a *attempt) Error(args ...any)         { a.note(true, fmt.Sprintln(args...)) }

func (a *attempt) Errorf(f string, args ...any) { a.note(true, fmt.Sprintf(f, args...)) }

func (a *attempt) Fatal(args ...any) {
	a.note(true, fmt.Sprintln(args...))
	runtime.Goexit()
}

func (a *attempt) Fatalf(f string, args ...any) {
	a.note(true, fmt.Sprintf(f, args...))
	runtime.Goexit()
}
