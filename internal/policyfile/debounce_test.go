package policyfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir/policy"
)

// handEvents are events that a test gives by hand.
type handEvents struct{ c chan string }

func (h handEvents) watch(places) error  { return nil }
func (h handEvents) hits() <-chan string { return h.c }
func (h handEvents) close() error        { return nil }

func TestDebounce(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_000_000 + int64(ms)) }
	for _, tc := range []struct {
		name   string
		events []int // ms
		want   []int // ms to wait after each
	}{
		{"one", []int{0}, []int{75}},
		{"several", []int{0, 50, 100}, []int{75, 75, 75}},
		{"many are read at last", []int{0, 400, 450, 490, 500, 600}, []int{75, 75, 50, 10, 0, 0}},
		{"a clock that goes back", []int{100, 0}, []int{75, 75}},
	} {
		d := debounce{quiet: 75 * time.Millisecond, most: 500 * time.Millisecond}
		for i, ms := range tc.events {
			if got := d.next(at(ms)); got != time.Duration(tc.want[i])*time.Millisecond {
				t.Errorf("%s: after the event at %d ms it waits %v, want %d ms", tc.name, ms, got, tc.want[i])
			}
		}
	}
}

// quietWatch runs a Watch on a clock of its own, with files that change when the
// test says so, and tells when callbacks came.
func quietWatch(t *testing.T, poll time.Duration, play func(change func(), hits chan<- string)) (calls []time.Duration, last string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	lang := newLanguage()
	n := 0
	change := func() {
		n++
		err := os.WriteFile(file+".tmp", fmt.Appendf(nil, "domain %d\n", n), 0o644)
		if err := errors.Join(err, os.Rename(file+".tmp", file)); err != nil { // a pass may run at this very moment
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		change()
		hits := make(chan string)
		l, err := New(Options{
			Paths: []string{dir}, Poll: poll, Parse: lang.parse, Compile: lang.compile,
			events: func() (events, error) { return handEvents{hits}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		start := time.Now()
		go func() {
			done <- l.Watch(ctx, func(set *policy.Set, _ Report) {
				calls = append(calls, time.Since(start))
				last = lang.holds(set)
			})
		}()
		synctest.Wait()
		play(change, hits)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return calls, last
}

// TestWatchWaitsForQuiet: a burst of changes is one reload, 75 ms after the last.
func TestWatchWaitsForQuiet(t *testing.T) {
	calls, last := quietWatch(t, time.Hour, func(change func(), hits chan<- string) {
		for range 5 {
			time.Sleep(50 * time.Millisecond)
			change()
			hits <- ""
		}
		time.Sleep(time.Second)
	})
	if len(calls) != 2 || calls[0] != 0 || calls[1] != 325*time.Millisecond || last != "a.yaml=6" {
		t.Errorf("told at %v, the last of %s", calls, last)
	}
}

// TestWatchDoesNotWaitForEver: files that never rest are read twice a second.
func TestWatchDoesNotWaitForEver(t *testing.T) {
	calls, last := quietWatch(t, time.Hour, func(change func(), hits chan<- string) {
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			change()
			hits <- ""
		}
		time.Sleep(time.Second)
	})
	if len(calls) < 9 || len(calls) > 12 || last != "a.yaml=101" {
		t.Errorf("told at %v, the last of %s", calls, last)
	}
}

// TestWatchIgnoresWhatDoesNotMatter: events at other files cause no look.
func TestWatchIgnoresWhatDoesNotMatter(t *testing.T) {
	calls, last := quietWatch(t, time.Hour, func(change func(), hits chan<- string) {
		change() // unseen: nobody says that it was this file
		for _, name := range []string{"/elsewhere/a.yaml", "/tmp"} {
			hits <- name
		}
		time.Sleep(time.Second)
	})
	if len(calls) != 1 || last != "a.yaml=1" {
		t.Errorf("told at %v, the last of %s", calls, last)
	}
}

// TestWatchPolls: without a single event, a change is read after the poll that
// finds it, once it has rested.
func TestWatchPolls(t *testing.T) {
	calls, last := quietWatch(t, 10*time.Second, func(change func(), _ chan<- string) {
		time.Sleep(12 * time.Second)
		change()
		time.Sleep(20 * time.Second)
	})
	if len(calls) != 2 || calls[1] != 20*time.Second+75*time.Millisecond || last != "a.yaml=2" {
		t.Errorf("told at %v, the last of %s", calls, last)
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	b := &bench{T: t, dir: dir}
	b.write("v1/p/a.yaml", "domain a")
	b.link("v1", "current")
	p := make(places)
	direct, info, err := p.follow("/", b.path("current/p"))
	if err != nil || direct != b.path("v1/p") || !info.IsDir() {
		t.Fatalf("follow gave %s, %v, %v", direct, info, err)
	}
	p.add(direct, anyEntry)
	for path, want := range map[string]bool{
		"current":         true,
		"v1/p":            true,
		"v1/p/a.yaml":     true,
		"v1/p/new":        true,
		"v1/p/.a.yaml.sw": false,
		"v1/p/a.yaml~":    false,
		"v1/q":            false,
		"v2":              false,
		"p":               false,
	} {
		if got := p.matters(b.path(path), names{}); got != want {
			t.Errorf("an event at %s matters: %v", path, got)
		}
	}
}
