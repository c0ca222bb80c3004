package policyfile

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir/policy"
)

// TestWatchChanges makes every kind of change. The poll is an hour away: events
// alone must do.
func TestWatchChanges(t *testing.T) {
	for _, tc := range []struct {
		name   string
		paths  []string // instead of p
		before func(b *bench)
		change func(b *bench)
		serves string
	}{
		{name: "written in place", change: func(b *bench) { b.write("p/a.yaml", "domain a2") }, serves: "a.yaml=a2"},
		{name: "replaced by rename", change: func(b *bench) {
			b.write("p/a.yaml.tmp", "domain a2")
			b.rename("p/a.yaml.tmp", "p/a.yaml")
		}, serves: "a.yaml=a2"},
		{name: "saved by an editor", change: func(b *bench) {
			b.write("p/4913", "")
			b.remove("p/4913")
			b.rename("p/a.yaml", "p/a.yaml~")
			b.write("p/a.yaml", "domain a2")
			b.remove("p/a.yaml~")
		}, serves: "a.yaml=a2"},
		{name: "truncated, then written", change: func(b *bench) {
			b.must(os.Truncate(b.path("p/a.yaml"), 0))
			b.write("p/a.yaml", "domain a2")
		}, serves: "a.yaml=a2"},
		{name: "appended to", change: func(b *bench) {
			f, err := os.OpenFile(b.path("p/a.yaml"), os.O_APPEND|os.O_WRONLY, 0)
			b.must(err)
			_, err = f.WriteString("warn\n")
			b.must(errors.Join(err, f.Close()))
		}, serves: "a.yaml=a+warn"},
		{name: "added", change: func(b *bench) { b.write("p/b.yaml", "domain b") }, serves: "a.yaml=a b.yaml=b"},
		{name: "added in a new directory", change: func(b *bench) { b.write("p/x/y/b.yaml", "domain b") }, serves: "a.yaml=a b.yaml=b"},
		{name: "deleted", change: func(b *bench) { b.remove("p/a.yaml") }, serves: ""},
		{name: "the directory replaced", change: func(b *bench) {
			b.write("new/a.yaml", "domain a2")
			b.rename("p", "old")
			b.rename("new", "p")
		}, serves: "a.yaml=a2"},
		{
			name: "a file that is named", paths: []string{"one.conf"},
			before: func(b *bench) { b.write("one.conf", "domain a") },
			change: func(b *bench) { b.write("new", "domain a2"); b.rename("new", "one.conf") }, serves: "one.conf=a2",
		},
		{
			name: "the target of a link", paths: []string{"l.yaml"},
			before: func(b *bench) { b.write("far/away/a", "domain a"); b.link("far/away/a", "l.yaml") },
			change: func(b *bench) { b.write("far/away/a", "domain a2") }, serves: "l.yaml=a2",
		},
		{
			name: "a release, as RUNTIME_ROOT has it", paths: []string{"current/ratelimit/config"},
			before: func(b *bench) { b.write("v1/ratelimit/config/a.yaml", "domain a"); b.link("v1", "current") },
			change: func(b *bench) {
				b.write("v2/ratelimit/config/a.yaml", "domain a2")
				b.link("v2", "next")
				b.rename("next", "current")
			}, serves: "a.yaml=a2",
		},
		{
			name: "a path that comes to be", paths: []string{"p", "later/on/p"},
			change: func(b *bench) { b.write("later/on/p/b.yaml", "domain b") }, serves: "a.yaml=a b.yaml=b",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.paths != nil {
				b.opts.Paths = nil
				for _, p := range tc.paths {
					b.opts.Paths = append(b.opts.Paths, b.path(p))
				}
				b.restart()
			}
			b.write("p/a.yaml", "domain a")
			if tc.before != nil {
				tc.before(b)
			}
			w := b.watch()
			w.until("the first set", func(t *told) bool { return strings.Contains(t.serves, "=a") && t.report.Polling == "" })
			tc.change(b)
			last := w.serves(tc.serves)
			if strings.Contains(tc.serves, "a2") && !last.report.OK() {
				t.Errorf("problems:\n%s", problems(&last.report))
			}
		})
	}
}

// TestWatchFollowsTwice: a directory that was replaced is still watched.
func TestWatchFollowsTwice(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	b.remove("p")
	w.complains("p:0:0 not-found")
	b.write("p/a.yaml", "domain b")
	w.serves("a.yaml=b")
	b.write("p/a.yaml", "domain c")
	w.serves("a.yaml=c")

	b.write("new/a.yaml", "domain d") // with no pass in between, as a rule
	b.rename("p", "old")
	b.rename("new", "p")
	w.serves("a.yaml=d")
	b.write("p/a.yaml", "domain e")
	w.serves("a.yaml=e")

	b.remove("p")
	b.write("p/a.yaml", "domain f")
	w.serves("a.yaml=f")
	b.write("p/a.yaml", "domain g")
	w.serves("a.yaml=g")
}

// TestWatchAround: what is heavy is between the two calls, from the first file that is
// parsed to the set that is served; and there are as many of the one as of the other.
func TestWatchAround(t *testing.T) {
	var inside, passes, outside atomic.Int32
	b := newBench(t, func(o *Options) {
		o.Around = func() func() {
			inside.Add(1)
			passes.Add(1)
			return func() { inside.Add(-1) }
		}
		parse := o.Parse
		o.Parse = func(name string, data []byte) (*policy.File, []policy.Problem) {
			if inside.Load() != 1 {
				outside.Add(1)
			}
			return parse(name, data)
		}
	})
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	before := passes.Load()
	b.write("p/a.yaml", "domain a2")
	w.serves("a.yaml=a2")
	w.stop()
	if passes.Load() == before || outside.Load() != 0 || inside.Load() != 0 {
		t.Errorf("%d passes and %d before the change, %d files parsed outside, %d not ended",
			passes.Load(), before, outside.Load(), inside.Load())
	}
}

// TestWatchBadThenGood: a bad file is told of and does not stop the others.
func TestWatchBadThenGood(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	w := b.watch()
	w.serves("a.yaml=a b.yaml=b")
	b.write("p/a.yaml", "domain a2", "bad")
	bad := w.complains("a.yaml:2:1 bad")
	b.expect("serves", bad.serves, "a.yaml=a b.yaml=b")
	b.expect("files", state(&bad.report), "a.yaml:stale b.yaml:current")
	b.write("p/b.yaml", "domain b2")
	w.serves("a.yaml=a b.yaml=b2")
	b.write("p/a.yaml", "domain a3")
	good := w.serves("a.yaml=a3 b.yaml=b2")
	b.expect("files", state(&good.report), "a.yaml:current b.yaml:current")
}

// TestWatchPartialWrite: a file that is found empty, or half written, keeps what
// it said until it says something again.
func TestWatchPartialWrite(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	b.must(os.Truncate(b.path("p/a.yaml"), 0))
	empty := w.complains("a.yaml:0:0 empty")
	b.expect("serves", empty.serves, "a.yaml=a")
	b.must(os.WriteFile(b.path("p/a.yaml"), []byte("domain a2\nbad"), 0o644))
	half := w.complains("a.yaml:2:1 bad")
	b.expect("serves", half.serves, "a.yaml=a")
	b.must(os.WriteFile(b.path("p/a.yaml"), []byte("domain a2\nbad no more"), 0o644))
	w.serves("a.yaml=a2+bad no more")
}

// TestWatchWithoutEvents: polling finds every change, and the report says that
// it does the finding.
func TestWatchWithoutEvents(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Poll = 5 * time.Millisecond
		o.events = func() (events, error) { return nil, errors.New("too many watches") }
	})
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	first := w.serves("a.yaml=a")
	b.expect("polling", first.report.Polling, "too many watches")
	b.write("p/a.yaml", "domain b") // the same size, within the clock's grain
	w.serves("a.yaml=b")
	b.write("p/new", "domain c")
	b.rename("p/new", "p/a.yaml")
	w.serves("a.yaml=c")
	b.remove("p/a.yaml")
	w.serves("")
}

// TestReload tells the outcome, even when nothing changed, and reads files that
// give no sign of having changed.
func TestReload(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	for i := range 3 {
		calls := len(w.all())
		b.l.Reload()
		w.until("a reload", func(*told) bool { return len(w.all()) > calls })
		if got := w.all()[len(w.all())-1]; got.serves != "a.yaml=a" {
			t.Errorf("reload %d gave %q", i, got.serves)
		}
	}
	parses, _ := b.lang.counts()
	if parses != 1 {
		t.Errorf("the same content was parsed %d times", parses)
	}
}

// TestReloadIsNotLost when it comes before Watch.
func TestReloadIsNotLost(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.load("a.yaml=a")
	b.l.Reload()
	b.l.Reload()
	b.watch().serves("a.yaml=a")
}

// TestWatchAfterLoad tells nothing that Load told already.
func TestWatchAfterLoad(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.load("a.yaml=a")
	w := b.watch()
	b.write("new", "domain b")
	b.rename("new", "p/a.yaml")
	w.serves("a.yaml=b")
	if first := w.all()[0]; first.serves != "a.yaml=b" {
		t.Errorf("was told first of %q", first.serves)
	}
}

// TestWatchOnce: a second Watch is refused, and allowed once the first ended.
func TestWatchOnce(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	if err := b.l.Watch(t.Context(), func(*policy.Set, Report) {}); err == nil {
		t.Error("two watches run")
	}
	w.stop()
	b.write("p/a.yaml", "domain b")
	b.watch().serves("a.yaml=b")
}

// TestWatchStartsWithNothing: there is no set until a file is good.
func TestWatchStartsWithNothing(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "bad")
	w := b.watch()
	first := w.complains("a.yaml:1:1 bad")
	b.expect("serves", first.serves, "nothing")
	b.write("p/a.yaml", "domain a")
	w.serves("a.yaml=a")
}

// TestWatchKeepsTheCache: what was watched into service survives.
func TestWatchKeepsTheCache(t *testing.T) {
	b := newBench(t, inCache)
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.serves("a.yaml=a")
	b.write("p/a.yaml", "domain b")
	w.serves("a.yaml=b")
	w.stop()
	b.remove("p")
	b.restart()
	b.load("a.yaml=b")
}

// TestWatchTellsOfTheCache: that it cannot be written is news.
func TestWatchTellsOfTheCache(t *testing.T) {
	b := newBench(t, inCache)
	b.write("cache", "a file")
	b.write("p/a.yaml", "domain a")
	w := b.watch()
	w.until("a cache error", func(t *told) bool { return t.serves == "a.yaml=a" && t.report.CacheError != "" })
}
