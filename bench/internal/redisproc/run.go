package redisproc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// Run starts a server, calls fn with it, and stops it.
func Run(fn func(*redistest.Server) error) error {
	return With(func(t testing.TB) error { return fn(redistest.Start(t)) })
}

// With calls fn as a test runs: cleanups follow, and what is fatal to a test is
// an error here. It is for who needs more than one server.
func With(fn func(testing.TB) error) (err error) {
	h := &host{}
	defer func() { err = errors.Join(err, h.cleanup()) }()
	defer func() {
		switch v := recover().(type) {
		case nil:
		case fatal:
			err = errors.New(string(v))
		default:
			panic(v)
		}
	}()
	return fn(h)
}

// fatal is the panic that stands for the end of a test.
type fatal string

// host is the part of testing.TB that redistest uses. Calls of any other
// method hit the nil interface and panic. It is used by one goroutine.
type host struct {
	testing.TB
	cleanups []func()
	failures []error
}

func (h *host) Helper()          {}
func (h *host) Failed() bool     { return len(h.failures) > 0 }
func (h *host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

func (h *host) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (h *host) Errorf(format string, args ...any) {
	h.failures = append(h.failures, fmt.Errorf(format, args...))
}

func (h *host) Fatal(args ...any) { h.Fatalf("%s", fmt.Sprint(args...)) }

func (h *host) Fatalf(format string, args ...any) { panic(fatal(fmt.Sprintf(format, args...))) }

func (h *host) TempDir() string {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		h.Fatalf("make a directory for redis-server: %v", err)
	}
	h.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			h.Errorf("remove the directory of redis-server: %v", err)
		}
	})
	return dir
}

// cleanup runs the cleanups, the last first, and returns what failed.
func (h *host) cleanup() error {
	for _, f := range slices.Backward(h.cleanups) {
		f()
	}
	return errors.Join(h.failures...)
}
