//go:build !race

package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

const (
	tenths     = 10                 // shards
	tenthSlots = key.Slots / tenths // of the first one, from 0
	tenthKeys  = 3000
)

// oneOfTen counts the fail-open answers of the minute in which a tenth of the
// shards was away. At a fixed rate that is known before the minute is over, as
// soon as there are no more: the rest of it is not waited for.
//
// Every request is for one of three thousand tenants, and needs the store: with the
// few tight tenants of other rows the failed shard would have what chance puts
// there, and not a tenth.
func oneOfTen(t testing.TB, f form) *outcome {
	c := redistest.StartCluster(t, tenths, tenths, withoutFullCoverage)
	r := serveBefore(t, c, f, deadline)
	victim := c.Primaries()[0]
	if c.NodeForSlot(0) != victim || c.NodeForSlot(tenthSlots-1) != victim || c.NodeForSlot(tenthSlots) == victim {
		t.Fatalf("the first primary does not have the first %d slots", tenthSlots)
	}
	var failed, others loadgen.Step // counts of each since the load began
	r.load(func(l *loadgen.Load) {
		l.Keys.Count = tenthKeys
		l.Fill = func(n uint64, q *weir.Request) { fill(wideKey(n), q) }
		l.Answered = func(a loadgen.Answer) {
			at := &others
			if int(key.Slot(fmt.Sprintf("{t%d}", wideKey(a.Key)))) < tenthSlots {
				at = &failed
			}
			at.Answered++
			if a.Err == nil && degraded(a.Decision) {
				at.Degraded++
			}
			a.Key = wideKey(a.Key)
			r.answered(a)
		}
	})
	before, promoted := r.lose(c, victim)
	j := r.end("one of ten")
	j.felt(before, j.last)
	j.inTime("since the kill", before, j.last)
	j.note("store-backed %v after promotion", j.backWithin(promoted, recovery).Round(10*time.Millisecond))
	share := total(j.last.less(before).degraded) / float64(60*f.rate)
	j.note("%s of a minute's decisions; the failed shard, with %s of the load, had %d degraded answers, the others %d",
		shareText(share), shareText(float64(failed.Answered)/float64(failed.Answered+others.Answered)), failed.Degraded, others.Degraded)
	if share >= 0.01 {
		t.Errorf("%s of a minute's decisions were not the store's, want less than 1%%", shareText(share))
	}
	if float64(others.Degraded) > (1-backed)*float64(others.Answered) {
		t.Errorf("%d of %d answers of healthy shards were degraded", others.Degraded, others.Answered)
	}
	return j.out
}

// wideKey is a key of the load whose limit is never reached; see fill.
func wideKey(n uint64) uint64 { return 2*n + 1 }

// lose kills a primary, and lets the load go on until its replica has taken over
// and the store answers again. It returns what was seen before, and when the
// replica was promoted.
func (r *rig) lose(c *redistest.Cluster, victim *redistest.Server) (before sample, promoted time.Time) {
	r.t.Helper()
	replica := c.ReplicasOf(victim)[0]
	before = r.mark("kill -9")
	victim.Stop()
	r.awaitDegraded()
	c.AwaitPromotion(replica)
	promoted = time.Now()
	r.mark("promoted")
	r.awaitBack()
	return before, promoted
}
