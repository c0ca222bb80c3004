package local

import (
	"testing"

	"github.com/weirlimit/weir"
)

// More is asked for when a fifth of what was granted is left, and not before.
func TestPrefetch(t *testing.T) {
	c, store := newStore(t)
	n := newLeaseNode(t, store, LeaseOptions{})
	k := unitsOf("{a}k", limit(weir.FixedWindow, 1_000_000, weir.Hour), 1)
	n.heatUp(c, k)
	// Until leases are large enough to tell a fifth from a quarter.
	granted := n.stats(c.now)
	for i := 0; ; i++ {
		c.now += 100
		n.check(c.now, 1, k)
		now := n.stats(c.now)
		if now.Taken > granted.Taken && now.Held >= 100 {
			granted = now
			break
		}
		if granted.Taken = now.Taken; i == 100_000 {
			t.Fatalf("a lease of %d shows nothing", now.Held)
		}
	}
	for {
		c.now += 100
		before := n.stats(c.now)
		if _, source := n.check(c.now, 1, k); source != weir.SourceLease {
			t.Fatalf("%d held: asked %v", before.Held, source)
		}
		left := before.Held - 1
		if more := n.stats(c.now).Taken > granted.Taken; more != (left <= granted.Held/5) {
			t.Fatalf("%d of %d left, and more was taken: %v", left, granted.Held, more)
		} else if more {
			return
		}
	}
}
