package redisstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// What follows are subtests of TestCluster: slots that are on the move.

// tagged returns n keys of one slot that node i serves.
func (c *cluster) tagged(t *testing.T, i, n int) (slot int, keys []string) {
	t.Helper()
	tag := c.on(t, i)
	for j := range n {
		keys = append(keys, fmt.Sprint(tag, j))
	}
	return int(c.s.slotOf(tag)), keys
}

func testAskWindow(t *testing.T, c *cluster) {
	m := still(100)
	slot, keys := c.tagged(t, 0, 5)
	moved, moved2, stayed, absent, absent2 := keys[0], keys[1], keys[2], keys[3], keys[4]
	for _, k := range []string{moved, moved2, stayed} {
		admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 10)}})
	}
	from, to := c.Nodes()[0], c.Nodes()[1]
	c.BeginMigrate(from, to, slot)
	c.MoveKeys(from, to, aclPrefix+moved, aclPrefix+moved2)

	// Each by itself, then again in one batch.
	for _, k := range []string{moved, stayed, absent} {
		admit(t, c.s, one(k, m))
	}
	b := weir.Batch{Entries: []weir.Entry{one(moved, m), one(stayed, m), one(absent, m), one(c.on(t, 0), m)}}
	c.s.Decide(context.Background(), &b)
	if got := countAdmitted(t, b.Entries); got != 4 {
		t.Fatalf("%d of 4 admitted", got)
	}
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(moved, m, 1), charge(moved2, m, 1)}})

	// Keys of which one has moved and one has not cannot be used together, and
	// new ones cannot be made together: Redis says TRYAGAIN.
	pairs := [][]weir.Charge{
		{charge(moved, m, 1), charge(stayed, m, 1)},
		{charge(moved, m, 1), charge(absent2, m, 1)},
	}
	for _, pair := range pairs {
		b := weir.Batch{Entries: []weir.Entry{{Charges: pair}}, Deadline: time.Now().Add(200 * time.Millisecond)}
		c.s.Decide(context.Background(), &b)
		wantCode(t, b.Entries[0].Err, weir.CodeTryAgain)
	}
	waiting := make(chan weir.Entry)
	for _, pair := range pairs {
		go func() { waiting <- decide(c.s, weir.Entry{Charges: slices.Clone(pair)}) }()
	}
	if err := c.s.Reset(context.Background(), moved2); err != nil {
		t.Errorf("reset of a key that has moved: %v", err)
	}

	c.FinishMigrate(from, to, slot)
	for range pairs {
		if e := <-waiting; e.Err != nil || !e.Admitted {
			t.Errorf("an entry that waited for the move: admitted %v, err %v", e.Admitted, e.Err)
		}
	}
	for k, want := range map[string]int64{moved: 10 + 1 + 1 + 1 + 2, moved2: 0, stayed: 10 + 1 + 1 + 1, absent: 2, absent2: 1} {
		if got := used(t, c.s, k, m); got != want {
			t.Errorf("%q has %d units in use, want %d", k, got, want)
		}
	}
	if n := from.MustDo("CLUSTER", "COUNTKEYSINSLOT", fmt.Sprint(slot)); n != int64(0) {
		t.Errorf("%v keys were left behind", n)
	}
	c.MigrateSlots(to, from, slot)
}

// An entry of several nodes, with a part that has to follow a slot on the move,
// is denied: nothing of it stays.
func testSplitInAskWindow(t *testing.T, c *cluster) {
	m := still(10)
	slot, keys := c.tagged(t, 0, 2)
	here, elsewhere, full := c.on(t, 0), c.on(t, 1), c.on(t, 2)
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(full, m, 10)}})
	from, to := c.Nodes()[0], c.Nodes()[1]
	c.BeginMigrate(from, to, slot)
	short := func(e weir.Entry) weir.Entry {
		b := weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(100 * time.Millisecond)}
		c.s.Decide(context.Background(), &b)
		return b.Entries[0]
	}
	// Its key in the moving slot exists nowhere yet, and a record beside it
	// cannot be made: it fails, and what passed elsewhere is undone.
	e := short(weir.Entry{Charges: []weir.Charge{charge(keys[0], m, 1), charge(here, m, 1), charge(elsewhere, m, 1)}})
	if e.Err == nil {
		t.Fatal("decided in a slot on the move")
	}
	c.FinishMigrate(from, to, slot)
	deny(t, c.s, weir.Entry{Charges: []weir.Charge{charge(keys[1], m, 1), charge(here, m, 1), charge(full, m, 1)}})
	for _, k := range []string{keys[0], keys[1], here, elsewhere} {
		eventually(t, "the undo", wantUsed(t, c.s, k, m, 0))
	}
	// Two slots of one node, of which one has just moved away.
	slot, keys = c.tagged(t, 0, 1)
	c.MigrateSlots(from, to, slot)
	deny(t, c.s, weir.Entry{Charges: []weir.Charge{charge(keys[0], m, 1), charge(c.on(t, 0), m, 1), charge(full, m, 1)}})
	eventually(t, "the undo", wantUsed(t, c.s, keys[0], m, 0))
	admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(keys[0], m, 1), charge(here, m, 1)}})
	if a, b := used(t, c.s, keys[0], m), used(t, c.s, here, m); a != 1 || b != 1 {
		t.Errorf("%d and %d units in use, want 1 and 1", a, b)
	}
}

// Slots with hot keys move while they are hit. No call fails, and no unit is
// lost or given twice.
func testReshard(t *testing.T, c *cluster) {
	const slots, capacity = 4, 1500
	m := still(capacity)
	var numbers []int
	var entries []weir.Entry
	for i := range slots {
		slot, keys := c.tagged(t, 0, 2)
		numbers = append(numbers, slot)
		entries = append(entries, one(keys[0], m))
		if i%2 == 0 { // entries of two keys, which Redis may ask to try again
			entries[i].Charges = append(entries[i].Charges, charge(keys[1], m, 1))
		}
		if i == 1 { // and a counter of two names
			c := &entries[i].Charges[0]
			c.Twin, c.Twinning = keys[1], weir.TwinLast
		}
	}
	l := startLoad(c.s, 8, func(caller, round int) weir.Entry {
		e := entries[(caller+round)%slots]
		e.Charges = slices.Clone(e.Charges)
		return e
	})
	nodes := c.Nodes()[:3]
	for hop := range 6 {
		l.progress(t, 200)
		c.MigrateSlots(nodes[hop%3], nodes[(hop+1)%3], numbers...)
	}
	l.exhaust(t, slots*capacity)
	l.endClean(t)
	if got := l.admitted.Load(); got != slots*capacity {
		t.Errorf("%d admitted, want exactly %d", got, slots*capacity)
	}
	for i := range entries {
		for _, ch := range entries[i].Charges {
			if got := used(t, c.s, ch.Key, m); got != capacity {
				t.Errorf("%q has %d units in use, want %d", ch.Key, got, capacity)
			}
		}
	}
}
