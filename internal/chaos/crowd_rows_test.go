//go:build !race

package chaos

import (
	"strconv"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

// memoryBound is what a server may grow by, whoever asks.
const memoryBound = 256 << 20

// randomKeys asks for ever new tenants. Redis is given the room it takes; the
// server in between must not grow with it.
func randomKeys(t testing.TB, f form) *outcome {
	rate := 10 * f.rate
	s := redistest.Start(t)
	w := serve(t, launch{args: []string{"--redis", s.Addr()}, deadline: f.unfelt})
	w.awaitReady()
	r := newRig(t, f, w)
	r.load(func(l *loadgen.Load) {
		l.Rate = rate
		l.Keys.Count = 1 << 62
		l.Fill = func(key uint64, q *weir.Request) {
			fillKind("tight", key, q)
			q.Descriptors[0].Pairs[1].Value = "random-" + strconv.FormatUint(key, 36)
		}
		l.Answered = nil // a million keys have no ledger
	})
	before := r.mark("warm")
	r.hold(time.Duration(f.many) * time.Second / time.Duration(rate))
	r.finish()
	r.mu.Lock()
	r.mu.degraded = int(r.result.Total.Degraded)
	r.mu.Unlock()
	j := r.end("random keys")
	grown := j.last.memory - before.memory
	j.note("%d keys; the server grew by %.0f MiB to %.0f MiB", j.out.due, grown/(1<<20), j.last.memory/(1<<20))
	if grown > memoryBound {
		t.Errorf("the server grew by %.0f MiB with %d random keys, want at most %d", grown/(1<<20), j.out.due, memoryBound>>20)
	}
	if share := float64(j.out.degraded) / float64(j.out.due); share > 1-backed {
		t.Errorf("%s of the answers were degraded: %v", shareText(share), j.out.reasons)
	}
	j.unleaked(before)
	return j.out
}

const (
	// floodFloor is below what 99th percentiles are not told apart: the next step
	// of the server's histogram is at 2.5 ms, the last at 0.5.
	floodFloor = time.Millisecond
	// floodWindow is what a 99th percentile is of. What the machine does to
	// everybody for a moment is in few windows, what a flood does is in all.
	floodWindow = 500 * time.Millisecond
)

// flood has one tenant ask ten times as often as all others together.
func flood(t testing.TB, f form) *outcome {
	s := redistest.Start(t)
	w := serve(t, launch{args: []string{"--redis", s.Addr()}, deadline: f.unfelt})
	w.awaitReady()
	if a, ok := t.(*attempt); ok {
		a.bound = deadline // latencies are compared, whatever the deadline
	}
	r := newRig(t, f, w)
	tally := &tally{began: time.Now()}
	r.load(func(l *loadgen.Load) {
		l.Answered = func(a loadgen.Answer) {
			r.answered(a)
			tally.note(tenantOf(a.Key), a.Took, a.Decision, a.Err)
		}
	})
	r.hold(f.flood)
	whale := newRig(t, f, w)
	before := r.mark("flood")
	drowned, err := loadgen.Run(t.Context(), whale.client, loadgen.Load{
		Rate: 10 * f.rate, For: f.flood, Outstanding: 8192,
		Fill:     func(_ uint64, q *weir.Request) { fillKind("tight", 1<<42, q) },
		Answered: func(a loadgen.Answer) { tally.note(tenant{"tight", 1 << 42}, a.Took, a.Decision, a.Err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	during := r.mark("flood over")
	j := r.endBeside("flood", drowned.Total.Degraded)
	if got := drowned.Attained(); got < attained {
		t.Errorf("attained %s of the flood", shareText(got))
	}
	j.note("flood of %d a second: %d of %d denied", 10*f.rate, drowned.Total.Denied, drowned.Total.Answered)
	j.undrowned(before, during)
	j.note("%d tenants have what their own limit and demand come to, within %d request", tally.size(), tallied)
	for _, wrong := range tally.unfair() {
		t.Error(wrong)
	}
	if want := f.keys/2 + tightTenants + 1; tally.size() != want {
		t.Errorf("%d tenants asked, want %d", tally.size(), want)
	}
	j.unfelt(before, during)
	j.within(0)
	return j.out
}

// undrowned holds that the 99th percentile of what the store decides, in the
// usual window, is at most twice what it was before the flood. Those decisions
// are the others': the flood is denied before the store, but for some a second.
func (j *judged) undrowned(before, during sample) {
	j.t.Helper()
	var was, is []time.Duration
	first := j.mu.samples[0]
	for _, s := range j.mu.samples {
		if s.at.Sub(first.at) < floodWindow {
			continue
		}
		p99 := within(s.less(first).stored, 0.99)
		switch {
		case !s.at.After(before.at):
			was = append(was, p99)
		case !first.at.Before(before.at) && !s.at.After(during.at):
			is = append(is, p99)
		}
		first = s
	}
	usual, meanwhile := median(was), median(is)
	j.note("others' p99 in the usual %v: %v before, %v meanwhile", floodWindow, usual.Round(10*time.Microsecond), meanwhile.Round(10*time.Microsecond))
	bound := max(2*usual, floodFloor)
	if j.form.name != longForm.name {
		// 200 decisions a window: two late ones are its 99th percentile, and the
		// machine's. Percentiles are told apart by the long form.
		bound = max(bound, j.form.slack)
	}
	if usual == 0 || meanwhile == 0 || meanwhile > bound {
		j.t.Errorf("others' p99 is %v beside a flood, %v without, want at most %v", meanwhile, usual, bound)
	}
}
