package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/memstore"
)

const (
	two   = "policies:\n  - {id: p, by: [tenant], limits: [2/h], on_failure: open}\n"
	three = "policies:\n  - {id: p, by: [tenant], limits: [3/h], on_failure: open}\n"
	bad   = "policies:\n  - {id: p, by: [tenant], limits: [3/fortnight], on_failure: open}\n  - {id: q, limit: 1/s}\n"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	next := path + ".next~" // read whole or not at all; the name is one that is left aside
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, c weir.Checker) weir.Decision {
	t.Helper()
	r := weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
	var d weir.Decision
	if err := c.Check(t.Context(), &r, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t testing.TB, path string, opts ...embedded.Option) *embedded.Limits {
	t.Helper()
	l, err := embedded.Open(path, append([]embedded.Option{embedded.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestFollowsItsFile: better policies come into force, worse ones do not, and
// both are told; Close leaves no goroutine.
func TestFollowsItsFile(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path := filepath.Join(t.TempDir(), "p.yaml")
	write(t, path, two)
	told := make(chan embedded.Reload, 10)
	var log bytes.Buffer
	l := open(t, path, embedded.WithOnReload(func(r embedded.Reload) { told <- r }),
		embedded.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	first := <-told
	if first.Err != nil || first.Version != l.Version() {
		t.Errorf("at first: %+v", first)
	}
	for _, want := range []weir.Verdict{weir.Allow, weir.Allow, weir.Deny} {
		if d := check(t, l); d.Verdict != want {
			t.Errorf("%v, want %v", d.Verdict, want)
		}
	}
	write(t, path, three)
	if r := await(t, told); r.Err != nil || r.Version == first.Version || r.Version != l.Version() {
		t.Errorf("then: %+v", r)
	}
	if d := check(t, l); !d.Allowed() { // the third of three: nothing was forgotten
		t.Errorf("%+v", d)
	}
	good := l.Version()
	write(t, path, bad)
	if r := await(t, told); r.Err == nil || r.Version != good || l.Version() != good {
		t.Errorf("bad: %+v", r)
	}
	if d := check(t, l); d.Allowed() {
		t.Errorf("%+v", d)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
	if text := log.String(); !strings.Contains(text, "fortnight") || !strings.Contains(text, "policies loaded") {
		t.Errorf("log: %s", text)
	}
	if d := check(t, l); !d.Allowed() || d.Reason != weir.ReasonDegraded {
		t.Errorf("closed: %+v", d)
	}
}

func await(t testing.TB, told <-chan embedded.Reload) embedded.Reload {
	t.Helper()
	select {
	case r := <-told:
		return r
	case <-time.After(30 * time.Second):
		t.Fatal("no change was noticed")
	}
	panic("unreachable")
}

func TestReloadAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.yaml")
	write(t, path, two)
	l := open(t, path)
	write(t, path, three)
	if err := l.Reload(t.Context()); err != nil || check(t, l).Limit.Count != 3 {
		t.Errorf("%v", err)
	}
	write(t, path, bad)
	if err := l.Reload(t.Context()); err == nil || check(t, l).Limit.Count != 3 {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Reload(ctx); weir.CodeOf(err) != weir.CodeCanceled {
		t.Errorf("canceled: %v", err)
	}
}

// TestBadAtTheStart: every problem is told, with its place, and nothing runs.
func TestBadAtTheStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	good, wrong := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "wrong.yaml")
	write(t, good, two)
	write(t, wrong, bad)
	for name, o := range map[string]func() (*embedded.Limits, error){
		"a directory":  func() (*embedded.Limits, error) { return embedded.Open(dir) },
		"a file":       func() (*embedded.Limits, error) { return embedded.Open(wrong) },
		"another file": func() (*embedded.Limits, error) { return embedded.Open(good, embedded.WithPaths(wrong)) },
		"a text":       func() (*embedded.Limits, error) { return embedded.Parse(bad) },
	} {
		l, err := o()
		if l != nil || err == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := errors.AsType[*weir.Error](err); !ok || e.Code != weir.CodeInvalid {
			t.Errorf("%s: %T", name, err)
		}
		if text := err.Error(); !strings.Contains(text, ":2:") || !strings.Contains(text, "fortnight") || !strings.Contains(text, `"limit"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := embedded.Open(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("no file: %v", err)
	}
}

// TestStoreIsTheCallers: it is used, and left open.
func TestStoreIsTheCallers(t *testing.T) {
	store := memstore.New()
	decided := 0
	opts := []embedded.Option{embedded.WithStore(store), embedded.WithDeadline(time.Second), embedded.WithHooks(weir.Hooks{
		Decided: func(*weir.Request, *weir.Decision, time.Duration) { decided++ },
	})}
	for range 2 { // both share the counters
		l, err := embedded.Parse(two, opts...)
		if err != nil {
			t.Fatal(err)
		}
		check(t, l)
		if err := l.Reload(t.Context()); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	l, err := embedded.Parse(two, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if d := check(t, l); d.Allowed() || decided != 3 {
		t.Errorf("%+v, %d decided", d, decided)
	}
}

func TestReleases(t *testing.T) {
	l, err := embedded.Parse("policies:\n  - {id: p, by: [tenant], concurrency: 1, on_failure: open}\n")
	if err != nil {
		t.Fatal(err)
	}
	r := weir.Request{Domain: "default", ID: "x", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
	var d weir.Decision
	l.Submit(&r, &d, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if n, version, err := l.Release(t.Context(), &r); n != 1 || version != l.Version() || err != nil {
		t.Errorf("%d, %s, %v", n, version, err)
	}
}

func TestCompat(t *testing.T) {
	l, err := embedded.Parse("domain: x\ndescriptors:\n  - key: tenant\n    rate_limit: {unit: hour, requests_per_unit: 1}\n", embedded.WithCompat())
	if err != nil {
		t.Fatal(err)
	}
	r := weir.Request{Domain: "x", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
	var d weir.Decision
	if err := l.Check(t.Context(), &r, &d); err != nil || d.Limit.Algorithm != weir.FixedWindow {
		t.Errorf("%+v, %v", d, err)
	}
}
