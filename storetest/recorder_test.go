package storetest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a testing.TB whose failures are kept instead of failing the test
// that runs it. What it does not override goes to the real one.
type recorder struct {
	testing.TB
	mu struct {
		sync.Mutex
		failures []string
		skipped  bool
		cleanups []func()
	}
}

// try runs a case on a goroutine of its own, which FailNow ends, and returns
// what it failed with.
func try(t testing.TB, c Case, f Factory) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.cleanup()
		c.Run(r, f)
	}()
	<-done
	return r
}

func (r *recorder) cleanup() {
	r.mu.Lock()
	cleanups := r.mu.cleanups
	r.mu.Unlock()
	for i := len(cleanups) - 1; i >= 0; i-- {
		cleanups[i]()
	}
}

func (r *recorder) fail(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.failures = append(r.mu.failures, text)
}

func (r *recorder) skip() {
	r.mu.Lock()
	r.mu.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) failures() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.failures
}

func (r *recorder) Helper()                   {}
func (r *recorder) Log(...any)                {}
func (r *recorder) Logf(string, ...any)       {}
func (r *recorder) Fail()                     { r.fail("failed") }
func (r *recorder) FailNow()                  { r.fail("failed"); runtime.Goexit() }
func (r *recorder) Failed() bool              { return len(r.failures()) > 0 }
func (r *recorder) Error(args ...any)         { r.fail(fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.fail(fmt.Sprintf(f, a...)) }
func (r *recorder) Fatal(args ...any)         { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...); runtime.Goexit() }
func (r *recorder) Skip(...any)               { r.skip() }
func (r *recorder) Skipf(string, ...any)      { r.skip() }
func (r *recorder) SkipNow()                  { r.skip() }
func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	r.mu.cleanups = append(r.mu.cleanups, f)
	r.mu.Unlock()
}
