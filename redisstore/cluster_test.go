package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/redistest"
)

// cluster is a real one, and a store on it that logs in as the documented user
// and may touch the keys of its prefix only.
type cluster struct {
	*redistest.Cluster
	s    *Store
	lost losses
	opts Options
	keys int // names given out
}

func startCluster(t *testing.T, primaries, replicas int, opts ...redistest.Option) *cluster {
	t.Helper()
	opts = append([]redistest.Option{
		redistest.WithACL(aclUser(aclClusterCommands)),
		redistest.WithConfig("cluster-require-full-coverage", "no"),
	}, opts...)
	c := &cluster{Cluster: redistest.StartCluster(t, primaries, replicas, opts...)}
	// open's ConnTimeout matters here: a primary holds writes back while it hands
	// over to its replica, for as long as the machine needs, at the most 5 s.
	c.opts = asACLUser(Options{Addrs: c.Addrs()[:1], Mode: Cluster, Hooks: c.lost.hooks()})
	c.s = open(t, c.opts)
	return c
}

// on returns a key, never given out before, that node i of the topology serves.
func (c *cluster) on(t *testing.T, i int) string {
	t.Helper()
	addr := c.Nodes()[i].Addr()
	for {
		c.keys++
		k := fmt.Sprintf("{t%d}", c.keys)
		if sh := c.s.topo.Load().slots[c.s.slotOf(k)]; sh != nil && sh.addr == addr {
			return k
		}
		if c.keys > 1_000_000 {
			t.Fatalf("%s serves no slot", addr)
		}
	}
}

// record is the key by which e is remembered.
func (c *cluster) record(t *testing.T, e weir.Entry) string {
	t.Helper()
	id, ok, _ := algo.ReplayOwner(&e, nil)
	if !ok {
		t.Fatal("it is not remembered")
	}
	return c.s.replayPrefix(c.s.slotOf(e.Charges[0].Key)) + string(id[:])
}

// calls is how many script calls all nodes have answered.
func (c *cluster) calls() int64 {
	n := int64(0)
	for _, node := range c.Primaries() {
		n += node.CommandStats()["evalsha"]
	}
	return n
}

// node returns the primary of a key.
func (c *cluster) node(k string) *redistest.Server { return c.NodeForSlot(int(c.s.slotOf(k))) }

// wantNoLoss fails the test if anything was lost so far.
func (c *cluster) wantNoLoss(t *testing.T) {
	t.Helper()
	for kind := range c.lost {
		if n := c.lost[kind].Load(); n != 0 {
			t.Errorf("lost %s: %d, want none", weir.Loss(kind), n)
		}
	}
}

// TestCluster shares one cluster between its subtests. Those that change who
// serves what come last.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 3)
	for _, sub := range []struct {
		name string
		run  func(*testing.T, *cluster)
	}{
		{"a batch of many slots is one call per node", testClusterBatch},
		{"keys without a tag", testClusterPlainKeys},
		{"records lie with their keys", testClusterReplay},
		{"single mode at one node", testClusterAsSingle},
		{"split: admitted, each charged once", testSplitAdmitted},
		{"split: denied, the others are refunded", testSplitDenied},
		{"split: always and refund stay when denied", testSplitKept},
		{"split: concurrency", testSplitConcurrency},
		{"split: up-to gives all the least", testSplitUpTo},
		{"split: quota groups", testSplitGroups},
		{"split: replayed by its id", testSplitReplay},
		{"split: undo of what never ran", testSplitUndoOfNothing},
		{"split: an undo is of its attempt", testUndoIsOfItsAttempt},
		{"split: undo of a look", testUndoOfALook},
		{"split: concurrent callers", testSplitConcurrent},
		{"split: twins", testSplitTwins},
		{"ask window", testAskWindow},
		{"twins in the ask window", testTwinsInAskWindow},
		{"split in the ask window", testSplitInAskWindow},
		{"reshard under load", testReshard},
		{"graceful failover under load", testGracefulFailover},
	} {
		ok := t.Run(sub.name, func(t *testing.T) {
			sub.run(t, c)
			c.wantNoLoss(t)
		})
		if !ok {
			t.FailNow() // what follows would start from who knows what
		}
	}
}

func testClusterBatch(t *testing.T, c *cluster) {
	b := func() *weir.Batch {
		b := new(weir.Batch)
		for i := range 90 {
			b.Entries = append(b.Entries, one(fmt.Sprintf("{batch%d}", i), still(10)))
		}
		return b
	}
	warmUp := b()
	c.s.Decide(context.Background(), warmUp)
	before := c.calls()
	again := b()
	c.s.Decide(context.Background(), again)
	if got := countAdmitted(t, again.Entries); got != len(again.Entries) {
		t.Fatalf("%d of %d admitted", got, len(again.Entries))
	}
	// At most a few more than the nodes: the first entries may be under way
	// before the last are queued.
	if got := c.calls() - before; got > 15 {
		t.Errorf("%d calls for 90 keys of 90 slots on 3 nodes", got)
	}
}

// A prefix moves keys that have no hash tag to another slot.
func testClusterPlainKeys(t *testing.T, c *cluster) {
	m := still(10)
	admit(t, c.s, withID(one("plain", m), "r"))
	before := c.calls()
	for i := range 50 {
		admit(t, c.s, withID(one(fmt.Sprint("plain", i), m), "r"))
		admit(t, c.s, one(fmt.Sprint("pla{in", i), m))
	}
	if got := c.calls() - before; got != 100 {
		t.Errorf("100 decisions took %d calls: they were sent to the wrong nodes", got)
	}
	if err := c.s.Reset(context.Background(), "plain1"); err != nil {
		t.Error(err)
	}
	if got := used(t, c.s, "plain1", m); got != 0 {
		t.Errorf("%d units in use after a reset", got)
	}
}

func testClusterReplay(t *testing.T, c *cluster) {
	m := still(10)
	other := open(t, c.opts)
	for i := range 30 {
		e := withID(one(fmt.Sprintf("{replay%d}", i), m), "r")
		first := admit(t, c.s, e)
		again := admit(t, other, e)
		if first.Replayed || !again.Replayed || first.Outcomes[0] != again.Outcomes[0] {
			t.Fatalf("replayed %v, then %v; %+v, then %+v", first.Replayed, again.Replayed, first.Outcomes[0], again.Outcomes[0])
		}
		if got := used(t, c.s, e.Charges[0].Key, m); got != 1 {
			t.Fatalf("%d units in use, want 1", got)
		}
	}
}

// A node of a cluster is no single server: what it does not serve is an error
// that says so.
func testClusterAsSingle(t *testing.T, c *cluster) {
	o := c.opts
	o.Mode, o.Deadline = Single, 300*time.Millisecond
	s := open(t, o)
	admit(t, s, one(c.on(t, 0), still(10)))
	wantCode(t, decide(s, one(c.on(t, 1), still(10))).Err, weir.CodeMoved)
}

// The seed addresses are only where the search begins.
func TestClusterSeedsMayBeReplicasOrGone(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, 1)
	gone := redistest.Start(t)
	gone.Stop()
	replica := c.Nodes()[2].Addr()
	o := c.opts
	o.Addrs = []string{gone.Addr(), replica}
	s := open(t, o)
	for i := range 20 {
		admit(t, s, one(fmt.Sprintf("{k%d}", i), still(10)))
	}
	if shards := s.topo.Load().shards; slices.ContainsFunc(shards, func(sh *shard) bool { return sh.addr == replica }) {
		t.Error("a replica serves")
	}
	if calls := c.Nodes()[2].CommandStats()["evalsha"]; calls != 0 {
		t.Errorf("%d script calls on a replica", calls)
	}

	single := redistest.Start(t)
	_, err := New(context.Background(), Options{Addrs: []string{single.Addr()}, Mode: Cluster})
	if err == nil || !strings.Contains(err.Error(), "cluster support disabled") {
		t.Errorf("error %v, want one that says it is no cluster", err)
	}
}

func TestSlotTags(t *testing.T) {
	for slot, tag := range slotTags() {
		if got := key.Slot("w:#{" + tag + "}\x00}{"); int(got) != slot || len(tag) > 4 {
			t.Fatalf("the tag %q is in slot %d, want %d", tag, got, slot)
		}
	}
}
