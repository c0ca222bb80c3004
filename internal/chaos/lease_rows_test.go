//go:build !race

package chaos

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

// leasedShare is how much of their limit two nodes may hold between them.
const leasedShare = 0.2

// leasedLimit is one that both nodes keep within, so that they hold what they
// have taken ahead, until they are asked for more.
func leasedLimit(f form) (rate, burst int, policy string) {
	rate, burst = 3*f.rate, 3*f.rate
	return rate, burst, fmt.Sprintf(
		"policies:\n  - {id: leased, by: tenant, limits: %d/s burst %d, lease: auto, on_failure: open}\n", rate, burst)
}

// leaseHolder stops a node that holds units it has taken ahead, until they have
// expired, and asks it for more than it held the moment it goes on. Nothing but
// the questions that wait in its socket is between the stop and those, so that
// what it held must be lost, and what it spends be taken anew.
func leaseHolder(t testing.TB, f form) *outcome {
	rate, burst, policy := leasedLimit(f)
	s := redistest.Start(t)
	var nodes [2]*rig
	for i := range nodes {
		w := serve(t, launch{
			policies: policy, deadline: f.unfelt,
			args: []string{"--redis", s.Addr(), "--lease-share", fmt.Sprint(leasedShare)},
		})
		w.awaitReady()
		nodes[i] = newRig(t, f, w)
	}
	holder, other := nodes[0], nodes[1]
	leased := func(l *loadgen.Load) { l.Fill = func(_ uint64, q *weir.Request) { fillKind("leased", 0, q) } }
	began := time.Now()
	other.load(leased)
	holder.load(leased)
	await(t, "both nodes to lease", func() error {
		if holder.scrape().leases["spent"] == 0 || other.scrape().leases["spent"] == 0 {
			return errors.New("a node has spent nothing")
		}
		return nil
	})
	holder.stop()
	<-holder.ended
	held := holder.scrape()
	if err := holder.weir.proc.Pause(); err != nil {
		t.Fatal(err)
	}
	other.mark("holder stopped")
	answers := holder.askMany(2 * burst)
	other.hold(f.fault) // a lease lasts half a second
	if err := holder.weir.proc.Resume(); err != nil {
		t.Fatal(err)
	}
	other.mark("holder resumed")
	admitted := answers()
	after := holder.scrape()
	other.hold(f.after)
	j := other.end("lease holder stopped")
	span := time.Since(began)

	spent, taken := after.leases["spent"]-held.leases["spent"], after.leases["taken"]-held.leases["taken"]
	lost := after.leases["lost"] - held.leases["lost"]
	j.note("held %.0f when stopped, lost %.0f; then took %.0f and spent %.0f", held.leaseHeld, lost, taken, spent)
	if held.leaseHeld == 0 {
		t.Error("the fault was not felt: the holder held nothing")
	}
	if lost < held.leaseHeld || spent > taken {
		t.Errorf("held %v when stopped, lost %v; spent %v of %v taken since", held.leaseHeld, lost, spent, taken)
	}
	bound := max(after.leaseBound, j.last.leaseBound)
	all := float64(admitted + sum(holder.mu.admitted) + sum(other.mu.admitted))
	limit := float64(burst) + float64(rate)*span.Seconds()
	j.note("admitted %.0f of %.0f, and %.0f for leases", all, limit, bound)
	if bound == 0 || bound > leasedShare*float64(burst) || all > limit+bound {
		t.Errorf("admitted %.0f in %v, want at most %.0f and %.0f for leases, which are at most %.0f", all, span, limit, bound, leasedShare*float64(burst))
	}
	j.out.extra = (all - limit) / float64(burst)
	return j.out
}

func sum(m map[uint64]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// askMany sends questions without waiting. What it returns waits for the
// answers, and tells how many of the server's allowed.
func (r *rig) askMany(n int) func() int {
	var wait sync.WaitGroup
	decisions := make([]weir.Decision, n)
	requests := make([]weir.Request, n)
	for i := range requests {
		fillKind("leased", 0, &requests[i])
		wait.Add(1)
		r.client.Submit(&requests[i], &decisions[i], func(error) { wait.Done() })
	}
	return func() (allowed int) {
		wait.Wait() // at most as long as the client's deadline
		for i := range decisions {
			if decisions[i].Allowed() && decisions[i].PolicyVersion != "" {
				allowed++
			}
		}
		return allowed
	}
}
