//go:build !race

package chaos

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// onCluster starts a cluster with a weir serve before it, under load. With
// require-full-coverage, which is Redis's default, all shards refuse while one
// is away: docs/redis.md says to turn it off.
func onCluster(t testing.TB, f form, n int, within time.Duration) (*redistest.Cluster, *rig) {
	t.Helper()
	c, r := beforeCluster(t, f, n, within)
	r.load()
	return c, r
}

// beforeCluster is onCluster without the load.
func beforeCluster(t testing.TB, f form, n int, within time.Duration) (*redistest.Cluster, *rig) {
	t.Helper()
	c := redistest.StartCluster(t, n, n, redistest.WithConfig("cluster-require-full-coverage", "no"))
	w := serve(t, launch{args: []string{"--redis", strings.Join(c.Addrs(), ",")}, deadline: within})
	w.awaitReady()
	return c, newRig(t, f, w)
}

// awaitDegraded waits until a client was given a degraded answer, and holds that
// the next scrape shows it.
func (r *rig) awaitDegraded() {
	r.t.Helper()
	await(r.t, "a degraded answer", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.mu.degraded == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	r.visible()
}

func killPrimary(t testing.TB, f form) *outcome {
	c, r := onCluster(t, f, 3, deadline)
	victim := c.Primaries()[0]
	replica := c.ReplicasOf(victim)[0]
	before := r.mark("kill -9")
	victim.Stop()
	r.awaitDegraded()
	c.AwaitPromotion(replica)
	promoted := time.Now()
	during := r.mark("promoted")
	r.awaitBack()
	j := r.end("kill -9")
	j.felt(before, during)
	j.inTime("until promotion", before, during)
	j.inTime("afterwards", during, j.last)
	j.note("store-backed %v after promotion", j.backWithin(promoted, recovery).Round(10*time.Millisecond))
	j.within(1)
	return j.out
}

func stopPrimary(t testing.TB, f form) *outcome {
	c, r := onCluster(t, f, 3, deadline)
	victim := c.Primaries()[0]
	replica := c.ReplicasOf(victim)[0]
	before := r.mark("SIGSTOP")
	victim.Pause()
	r.awaitDegraded()
	c.AwaitPromotion(replica)
	promoted := time.Now()
	during := r.mark("promoted")
	r.awaitBack()
	resumed := r.mark("SIGCONT")
	victim.Resume()
	r.hold(f.after)
	j := r.end("SIGSTOP, SIGCONT")
	j.felt(before, during)
	j.inTime("until promotion", before, during)
	j.inTime("until SIGCONT", during, resumed)
	j.inTime("afterwards", resumed, j.last)
	j.note("store-backed %v after promotion", j.backWithin(promoted, recovery).Round(10*time.Millisecond))
	j.within(1)
	j.unleaked(before)
	return j.out
}

// reshard moves 1000 slots with their keys, one tenant's among them in any case.
func reshard(t testing.TB, f form) *outcome {
	c, r := onCluster(t, f, 3, f.unfelt)
	from, to := c.Primaries()[0], c.Primaries()[1]
	slots := make([]int, 1000)
	for i := range slots {
		slots[i] = i
	}
	before := r.mark("reshard")
	c.MigrateSlots(from, to, slots...)
	r.mark("resharded")
	r.hold(f.after)
	j := r.end("reshard")
	j.unfelt(before, j.last)
	j.inTime("throughout", before, j.last)
	j.within(0)
	return j.out
}

// failoverPause is the deadline of the failover row. Redis itself holds every
// write to the shard from the order until the replica has taken over, which it
// looks at ten times a second: B cannot bridge that.
const failoverPause = 250 * time.Millisecond

func gracefulFailover(t testing.TB, f form) *outcome {
	c, r := onCluster(t, f, 3, failoverPause)
	replica := c.ReplicasOf(c.Primaries()[0])[0]
	before := r.mark("failover")
	c.Failover(replica)
	r.mark("failed over")
	r.hold(f.after)
	j := r.end("graceful failover")
	j.note("deadline %v; the longest check took %v", failoverPause, j.result.Total.Latency.Quantile(1).Round(time.Millisecond))
	j.unfelt(before, j.last)
	j.within(0)
	return j.out
}
