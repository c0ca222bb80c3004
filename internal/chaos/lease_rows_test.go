//go:build !race

package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

const (
	// leasedShare is how much of their limit two nodes may hold between them.
	leasedShare = 0.2
	// leaseStopped is how long the holder is stopped: three times as long as a
	// lease lasts, and less than a client waits.
	leaseStopped = 1500 * time.Millisecond
	// leaseDeadline is of a check. No store is broken here, and what a busy
	// machine holds up is not to be decided by a backstop.
	leaseDeadline = 250 * time.Millisecond
)

// leasing is two nodes that take units of one limit ahead.
//
//	asked a second, in parts of the limit
//	holder  1/3 [stopped] all it is asked meanwhile, 1/3
//	other   1/3  5/3                               , 1/3
type leasing struct {
	t             testing.TB
	form          form
	rate, burst   int
	holder, other *rig
	ledger        ledger // of both nodes' answers
}

func newLeasing(t testing.TB, f form) *leasing {
	t.Helper()
	l := &leasing{t: t, form: f, rate: 3 * f.rate, burst: f.rate}
	policy := fmt.Sprintf("policies:\n  - {id: leased, by: tenant, limits: %d/s burst %d, lease: auto, on_failure: open}\n", l.rate, l.burst)
	s := redistest.Start(t)
	var nodes [2]*rig
	for i := range nodes {
		w := serve(t, launch{
			policies: policy, deadline: leaseDeadline,
			args: []string{"--redis", s.Addr(), "--instances", "2", "--lease-share", fmt.Sprint(leasedShare)},
		})
		w.awaitReady()
		nodes[i] = newRig(t, f, w)
	}
	if a, ok := t.(*attempt); ok {
		a.bound = f.unfelt // this deadline is not what is judged
	}
	l.holder, l.other = nodes[0], nodes[1]
	l.ledger.began = time.Now()
	return l
}

// load has a node asked for units of the limit.
func (l *leasing) load(r *rig) {
	l.t.Helper()
	r.load(func(load *loadgen.Load) {
		load.Fill = fillLeased
		load.Answered = func(a loadgen.Answer) { l.answered(r, a) }
	})
}

func (l *leasing) answered(r *rig, a loadgen.Answer) {
	r.answered(a)
	l.ledger.note(a.Took, a.Err == nil && a.Decision.Allowed())
}

func fillLeased(_ uint64, q *weir.Request) { fillKind("leased", 0, q) }

// overload asks the other node for more than there is, until what it returns is
// called, which tells how many were denied.
func (l *leasing) overload() func() uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *loadgen.Result, 1)
	go func() {
		res, err := loadgen.Run(ctx, l.other.client, loadgen.Load{
			Rate: 4 * l.form.rate, For: 10 * time.Minute, Fill: fillLeased,
			Answered: func(a loadgen.Answer) { l.answered(l.other, a) },
		})
		if err != nil {
			l.t.Errorf("overload: %v", err)
		}
		done <- res
	}()
	end := sync.OnceValue(func() uint64 {
		cancel()
		if res := <-done; res != nil {
			return res.Total.Denied
		}
		return 0
	})
	l.t.Cleanup(func() { end() })
	return end
}

// ask sends the holder questions without waiting, as many as twice what both
// nodes may hold. What it returns waits for the answers.
func (l *leasing) ask() func() {
	n := int(2 * leasedShare * float64(l.burst))
	var wait sync.WaitGroup
	decisions, requests := make([]weir.Decision, n), make([]weir.Request, n)
	asked := time.Now()
	for i := range requests {
		fillLeased(0, &requests[i])
		wait.Add(1)
		l.holder.client.Submit(&requests[i], &decisions[i], func(err error) {
			l.ledger.note(time.Since(asked), err == nil && decisions[i].Allowed())
			wait.Done()
		})
	}
	return func() {
		l.t.Helper()
		wait.Wait() // at most as long as the client's deadline
		for i := range decisions {
			if d := &decisions[i]; d.PolicyVersion == "" || degraded(d) {
				l.t.Errorf("the resumed holder did not answer %d of %d from its leases or the store: %+v", i, n, *d)
				return
			}
		}
	}
}

// awaitLeases waits until a node has taken and spent units since a sample.
func (l *leasing) awaitLeases(r *rig, since sample) {
	l.t.Helper()
	await(l.t, "a node to take and spend units", func() error {
		if s := r.scrape(); s.leases["taken"] == since.leases["taken"] || s.leases["spent"] == since.leases["spent"] || s.leaseHeld == 0 {
			return errors.New("none yet")
		}
		return nil
	})
}

// leaseHolder stops a node that holds units it has taken ahead until they have
// expired, while the other is asked for all that the limit has and more. Nothing
// but the questions that wait in its socket is between the stop and the first
// look at the holder's own counters: what it held must be lost, and what it
// spends be taken anew.
func leaseHolder(t testing.TB, f form) *outcome {
	l := newLeasing(t, f)
	l.load(l.other)
	l.load(l.holder)
	l.awaitLeases(l.other, sample{})
	l.awaitLeases(l.holder, sample{})
	held := l.holder.end("lease holder").last
	if err := l.holder.weir.proc.Pause(); err != nil {
		t.Fatal(err)
	}
	l.other.mark("holder stopped")
	overload := l.overload()
	l.other.hold(leaseStopped)
	answers := l.ask()
	if err := l.holder.weir.proc.Resume(); err != nil {
		t.Fatal(err)
	}
	l.other.mark("holder resumed")
	answers()
	woken := l.holder.scrape()
	denied := overload()
	l.other.mark("within the limit again")
	resumed := newRig(t, f, l.holder.weir)
	l.load(resumed)
	l.awaitLeases(resumed, woken)
	again := resumed.end("lease holder, resumed").last
	j := l.other.end("lease holder stopped")
	l.unspent(j, held, woken, again)
	l.bounded(j, denied)
	return j.out
}

// unspent holds by the holder's own counters that it took and spent units before
// the stop and since, that all it held was lost, and that no unit is missing.
func (l *leasing) unspent(j *judged, held, woken, again sample) {
	l.t.Helper()
	since := minus(again.leases, held.leases)
	lost := woken.leases["lost"] - held.leases["lost"]
	j.note("the holder had taken %.0f and spent %.0f, held %.0f when stopped and lost %.0f; since then took %.0f, spent %.0f",
		held.leases["taken"], held.leases["spent"], held.leaseHeld, lost, since["taken"], since["spent"])
	if held.leaseHeld == 0 {
		l.t.Error("the fault was not felt: the holder held nothing")
	}
	if held.leases["taken"] == 0 || held.leases["spent"] == 0 || since["taken"] == 0 || since["spent"] == 0 {
		l.t.Errorf("took and spent nothing: %v before the stop, %v since", held.leases, since)
	}
	if lost < held.leaseHeld {
		l.t.Errorf("held %v when stopped and lost %v: the rest was spent after its end", held.leaseHeld, lost)
	}
	if had, has := held.leaseHeld+since["taken"], since["spent"]+since["lost"]+again.leaseHeld; had != has {
		l.t.Errorf("held and took %v units, spent, lost and holds %v", had, has)
	}
}

// bounded holds that in every stretch of time both nodes together admitted no
// more than the limit and what is published for leases, and that the limit was in
// the way.
func (l *leasing) bounded(j *judged, denied uint64) {
	l.t.Helper()
	bound := 0.0
	for _, r := range []*rig{l.holder, l.other} {
		for _, s := range r.mu.samples {
			bound = max(bound, s.leaseBound)
		}
	}
	burst := float64(l.burst)
	most, from, to := l.ledger.beyond(float64(l.rate))
	j.out.extra = (most - burst) / burst
	j.note("at most %.0f beyond the rate in any stretch, of %.0f burst and %.0f nodes x L; %d denied", most, burst, bound, denied)
	if bound == 0 || bound > leasedShare*burst || most > burst+bound {
		l.t.Errorf("admitted %.0f beyond the rate between %v and %v, want at most %.0f and %.0f for leases, which are at most %.0f",
			most, from, to, burst, bound, leasedShare*burst)
	}
	if denied == 0 || most < 0.8*burst {
		l.t.Errorf("the limit was not in the way: %d denied, at most %.0f of %.0f beyond the rate", denied, most, burst)
	}
}
