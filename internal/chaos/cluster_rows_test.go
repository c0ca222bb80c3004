//go:build !race

package chaos

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/redistest"
)

// withoutFullCoverage: with require-full-coverage, which is Redis's default, all
// shards refuse while one is away. docs/redis.md says to turn it off.
var withoutFullCoverage = redistest.WithConfig("cluster-require-full-coverage", "no")

// onCluster has a weir serve before the shared cluster, under load. A row that
// leaves it other than it was spoils it.
func onCluster(t testing.TB, f form, within time.Duration, spoils bool) (*redistest.Cluster, *rig) {
	t.Helper()
	c := shared.take(t, spoils)
	r := serveBefore(t, c, f, within)
	r.load()
	return c, r
}

// serveBefore starts a weir serve before a cluster.
func serveBefore(t testing.TB, c *redistest.Cluster, f form, within time.Duration) *rig {
	t.Helper()
	w := serve(t, launch{args: []string{"--redis", strings.Join(c.Addrs(), ",")}, deadline: within})
	w.awaitReady()
	return newRig(t, f, w)
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
	c, r := onCluster(t, f, deadline, true)
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
	c, r := onCluster(t, f, deadline, false)
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
// The cluster is not used again: its slots are not spread evenly any more.
func reshard(t testing.TB, f form) *outcome {
	c, r := onCluster(t, f, f.unfelt, true)
	from := c.NodeForSlot(0)
	to := c.NodeForSlot(key.Slots - 1)
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
	c, r := onCluster(t, f, failoverPause, false)
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
