//go:build !race

package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// onSingle starts a server with a weir serve before it, under load.
func onSingle(t testing.TB, f form, within time.Duration) (*redistest.Server, *rig) {
	t.Helper()
	s := redistest.Start(t)
	w := serve(t, launch{args: []string{"--redis", s.Addr()}, deadline: within})
	w.awaitReady()
	r := newRig(t, f, w)
	r.load()
	return s, r
}

func allGone(t testing.TB, f form) *outcome {
	s, r := onSingle(t, f, deadline)
	before := r.mark("kill -9")
	s.Stop()
	r.awaitDegraded()
	r.hold(300 * time.Millisecond) // the breaker's time to open
	open := r.mark("breaker had its time")
	r.modes()
	r.hold(f.fault)
	during := r.mark("start")
	s.Restart()
	back := time.Now()
	r.awaitBack()
	j := r.end("all of it gone")
	j.felt(before, during)
	j.inTime("while gone", before, during)
	j.quick(open, during)
	j.note("store-backed %v after the start", j.backWithin(back, lookAgain+recovery).Round(10*time.Millisecond))
	j.within(2) // the restarted server is empty, which is a burst of its own
	j.unleaked(before)
	return j.out
}

func goneAtBoot(t testing.TB, f form) *outcome {
	s := redistest.Start(t)
	s.Stop()
	w := serve(t, launch{args: []string{"--redis", s.Addr()}})
	ready := w.awaitReady()
	if ready > 2*time.Second {
		t.Errorf("ready %v after its start, want 2 s", ready)
	}
	r := newRig(t, f, w)
	r.load()
	open := r.mark("warm")
	r.modes()
	r.hold(f.fault)
	during := r.mark("start")
	s.Restart()
	back := time.Now()
	r.awaitBack()
	j := r.end("gone at boot")
	j.note("ready after %v", ready.Round(time.Millisecond))
	j.felt(r.mu.samples[0], during)
	j.inTime("while gone", r.mu.samples[0], during)
	j.quick(open, during)
	j.note("store-backed %v after the start", j.backWithin(back, lookAgain+recovery).Round(10*time.Millisecond))
	j.within(1)
	return j.out
}

// quick holds that half of the checks of a stretch took less than 100 us: nobody
// waits for what is known to be away.
func (j *judged) quick(from, to sample) {
	j.t.Helper()
	const bound = 100 * time.Microsecond
	p50 := to.less(from).quantile(0.5)
	j.note("p50 %s while gone", durationText(p50))
	if p50 > bound {
		j.t.Errorf("half of the checks took more than %v while Redis was gone: p50 %v", bound, p50)
	}
}

// modes holds that each policy is answered by its own fail mode: open passes
// until the limit is used up, closed denies, local passes less than open.
func (r *rig) modes() {
	r.t.Helper()
	passed := map[string]int{}
	const asked = 3 * tightBurst
	for _, kind := range []string{"wide", "tight", "closed", "local"} {
		for range asked {
			d, err := r.ask(kind, 1<<41)
			if err != nil {
				r.t.Errorf("%s: %v", kind, err)
				return
			}
			if d.Source != weir.SourceBackstop {
				r.t.Errorf("%s was decided by %v", kind, d.Source)
				return
			}
			if d.Allowed() {
				passed[kind]++
			}
		}
	}
	took := 2 // a unit or two may have come back meanwhile
	if passed["wide"] != asked || passed["closed"] != 0 || passed["local"] == 0 || passed["local"] >= passed["tight"] || passed["tight"] > tightBurst+took {
		r.t.Errorf("of %d asked at once, passed: %v", asked, passed)
	}
}

// ask asks once, beside the load. What it is answered is counted as the load's
// answers are.
func (r *rig) ask(kind string, key uint64) (weir.Decision, error) {
	var q weir.Request
	var d weir.Decision
	fillKind(kind, key, &q)
	if err := r.client.Check(r.t.Context(), &q, &d); err != nil {
		return d, fmt.Errorf("check: %w", err)
	}
	if degraded(&d) {
		r.mu.Lock()
		r.mu.degraded++
		r.mu.Unlock()
	}
	return d, nil
}
