//go:build !race

package chaos

import (
	"context"
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

// flood has one tenant ask ten times as often as all others together.
func flood(t testing.TB, f form) *outcome {
	s := redistest.Start(t)
	w := serve(t, launch{args: []string{"--redis", s.Addr()}, deadline: f.unfelt})
	w.awaitReady()
	r := newRig(t, f, w)
	var quiet, loud loadgen.Step // the others before and meanwhile, as they see it
	var flooding time.Duration
	r.load(func(l *loadgen.Load) { l.Grace = time.Second })
	before := r.mark("flood")
	flooding = time.Since(r.began)
	whale := newRig(t, f, w)
	ctx, cancel := context.WithTimeout(t.Context(), 2*f.fault)
	defer cancel()
	drowned, err := loadgen.Run(ctx, whale.client, loadgen.Load{
		Rate: 10 * f.rate, For: 2 * f.fault, Outstanding: 8192,
		Fill: func(_ uint64, q *weir.Request) { fillKind("tight", 1<<42, q) },
	})
	if err != nil {
		t.Fatal(err)
	}
	during := r.mark("flood over")
	j := r.endBeside("flood", drowned.Total.Degraded)
	for i := range j.result.Steps {
		step := &j.result.Steps[i]
		into := &loud
		if time.Duration(i+1)*j.result.Load.Step <= flooding {
			into = &quiet
		}
		into.Latency.Merge(&step.Latency)
		into.Degraded += step.Degraded
	}
	if got := drowned.Attained(); got < attained {
		t.Errorf("attained %s of the flood", shareText(got))
	}
	j.note("flood of %d a second: %d of %d denied", 10*f.rate, drowned.Total.Denied, drowned.Total.Answered)
	was, is := quiet.Latency.Quantile(0.99), loud.Latency.Quantile(0.99)
	j.note("others' p99 %v before, %v meanwhile", was.Round(10*time.Microsecond), is.Round(10*time.Microsecond))
	// Below a millisecond it is the generator's own timers that are compared.
	if bound := max(2*was, f.slack); is > bound {
		t.Errorf("others' p99 is %v beside a flood, %v without, want at most %v", is, was, bound)
	}
	j.unfelt(before, during)
	j.within(0)
	return j.out
}
