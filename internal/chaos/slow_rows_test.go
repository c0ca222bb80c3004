//go:build !race

package chaos

import (
	"errors"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

func slowRedis(t testing.TB, f form) *outcome { return spoiled(t, f, "slow", toxicSlow) }
func resets(t testing.TB, f form) *outcome    { return spoiled(t, f, "resets", toxicReset) }
func halfOpen(t testing.TB, f form) *outcome  { return spoiled(t, f, "half-open", toxicHalfOpen) }

// breakerBound is how soon a breaker opens, and what the scrape that sees it may
// take.
const (
	breakerBound = 250 * time.Millisecond
	scrapeTime   = 50 * time.Millisecond
)

// spoiled has a proxy misbehave between weir and one Redis.
func spoiled(t testing.TB, f form, name, toxic string) *outcome {
	s := redistest.Start(t)
	p := newProxy(t, s.Addr())
	w := serve(t, launch{args: []string{"--redis", p.Listen}})
	w.awaitReady()
	r := newRig(t, f, w)
	r.load()
	before := r.mark("%s", name)
	p.spoil(toxic)
	opened := r.awaitOpen(before)
	r.hold(f.fault)
	during := r.mark("mended")
	p.mend()
	back := time.Now()
	r.awaitBack()
	j := r.end(name)
	j.felt(before, during)
	j.inTime("while it lasts", before, during)
	j.inTime("afterwards", during, j.last)
	j.note("breaker open after %v", opened.Round(time.Millisecond))
	if bound := breakerBound + scrapeTime; opened > bound {
		t.Errorf("the breaker was seen open %v after the fault began, want %v", opened, bound)
	}
	if n := during.less(before).turns["closed"]; n != 0 {
		t.Errorf("the breaker closed %v times while the fault lasted", n)
	}
	j.note("store-backed %v after the end", j.backWithin(back, lookAgain+recovery).Round(10*time.Millisecond))
	j.within(1)
	j.unleaked(before)
	return j.out
}

// awaitOpen returns how long after a sample a breaker was seen to have opened.
func (r *rig) awaitOpen(before sample) time.Duration {
	r.t.Helper()
	began := before.at
	for time.Since(began) < 5*time.Second {
		if s := r.scrape(); s.less(before).turns["open"] > 0 {
			return s.at.Sub(began)
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Error(errors.New("no breaker opened within 5 s"))
	return 5 * time.Second
}
