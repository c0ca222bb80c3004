package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// testSplitUndoOfNothing is a subtest of TestCluster.
func testSplitUndoOfNothing(t *testing.T, c *cluster) {
	m := still(10)
	k := c.on(t, 0)
	const attempt = 7
	admitPart(t, c.s, weir.Entry{ID: "other", Charges: []weir.Charge{charge(k, m, 4)}}, attempt)
	undo := func(id string, cost int64) {
		e := weir.Entry{ID: id, Charges: []weir.Charge{charge(k, m, cost)}}
		c.s.amend(e, c.s.slotOf(k), attempt)
	}
	undo("never", 4)
	undo("other", 3) // another request, by its cost
	// A decision of the same slot after them has seen what they did.
	for range 3 {
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 0)}})
	}
	if got := used(t, c.s, k, m); got != 4 {
		t.Errorf("%d units in use, want 4", got)
	}
	undo("other", 4)
	eventually(t, "the undo", wantUsed(t, c.s, k, m, 0))
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 4)}})
	undo("other", 4) // once only
	for range 3 {
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 0)}})
	}
	if got := used(t, c.s, k, m); got != 4 {
		t.Errorf("%d units in use, want 4: what was undone was undone again", got)
	}
}

// A refund that cannot be made is counted.
func TestSplitRefundFailureIsCounted(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0)
	m := still(10)
	a, full := c.on(t, 0), c.on(t, 1)
	admit(t, c.s, one(a, m))
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(full, m, 10)}})
	dead := c.Nodes()[0]
	dead.Stop()
	e := weir.Entry{Charges: []weir.Charge{charge(a, m, 1), charge(full, m, 1)}}
	b := weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(50 * time.Millisecond)}
	c.s.Decide(t.Context(), &b)
	if b.Entries[0].Err == nil {
		t.Fatal("decided without one of its nodes")
	}
	eventually(t, "the lost refund to be counted", func() error {
		if got := c.lost.of(weir.LossRefund); got != 1 {
			return fmt.Errorf("%d", got)
		}
		return nil
	})

	// Undone at the living node: full is as it was, and so it is with a part
	// that was charged there.
	spare := full[:len(full)-1] + "}spare"
	b = weir.Batch{
		Entries:  []weir.Entry{{Charges: []weir.Charge{charge(a, m, 1), charge(spare, m, 1)}}},
		Deadline: time.Now().Add(50 * time.Millisecond),
	}
	c.s.Decide(t.Context(), &b)
	if b.Entries[0].Err == nil {
		t.Fatal("decided without one of its nodes")
	}
	node := c.Nodes()[1]
	eventually(t, "the undo at the living node", func() error {
		if got := state(t, node, aclPrefix+spare, m).Used; got != 0 {
			return fmt.Errorf("%d units in use", got)
		}
		return nil
	})
}

// testUndoOfALook is a subtest of TestCluster: an undo gives nothing back of a counter
// that its request only looked at, and leaves what another limit wrote there since.
func testUndoOfALook(t *testing.T, c *cluster) {
	before := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 9_000_000, Window: weir.Second})
	since := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second, Burst: 1000})
	k := c.on(t, 0)
	other := k + "other"
	e := weir.Entry{ID: "r", Charges: []weir.Charge{
		{Key: k, Meter: before, Cost: 1, Mode: weir.Peek}, {Key: other, Meter: still(10), Cost: 1},
	}}
	admitPart(t, c.s, e, 1)
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, since, 1000)}})
	time.Sleep(2 * time.Millisecond)
	c.s.amend(e, c.s.slotOf(k), 1)
	eventually(t, "the undo", wantUsed(t, c.s, other, still(10), 0))
	if got := used(t, c.s, k, since); got < 990 {
		t.Errorf("%d units are in use, want some 1000", got)
	}
}
