package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// Cluster is a Redis Cluster of real nodes with a node timeout of 2 s.
type Cluster struct {
	t     testing.TB
	nodes []*Server // primaries first, as they were at the start
	ids   map[*Server]string
}

// StartCluster runs a cluster with the slots spread evenly over the primaries
// and the replicas, a total and not a number per primary, dealt to them in
// turn. It returns once every node sees every other, the cluster serves and all
// replicas are in sync: little more than the 2 s that a primary waits before it
// serves.
func StartCluster(t testing.TB, primaries, replicas int, opts ...Option) *Cluster {
	t.Helper()
	if primaries < 1 || replicas < 0 {
		t.Fatalf("redistest: a cluster of %d primaries and %d replicas", primaries, replicas)
	}
	cfg := newConfig(t, opts)
	cfg.cluster = true
	c := &Cluster{t: t, ids: make(map[*Server]string)}
	for range primaries + replicas {
		n := start(t, cfg)
		c.nodes = append(c.nodes, n)
		c.ids[n], _ = n.MustDo("CLUSTER", "MYID").(string)
	}
	for i, n := range c.nodes {
		// Distinct from the start, so that no two primaries have to settle a tie.
		n.MustDo("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < primaries {
			n.MustDo("CLUSTER", "ADDSLOTSRANGE",
				strconv.Itoa(i*slotCount/primaries), strconv.Itoa((i+1)*slotCount/primaries-1))
		}
	}
	// Each pair meets directly: gossip would take seconds.
	for i, n := range c.nodes {
		for _, peer := range c.nodes[i+1:] {
			n.MustDo("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(peer.ports.client), strconv.Itoa(peer.ports.bus))
		}
	}
	mustAwait(t, "the nodes to meet", c.allMet)
	for i, n := range c.nodes[primaries:] {
		n.MustDo("CLUSTER", "REPLICATE", c.ids[c.nodes[i%primaries]])
	}
	mustAwait(t, "the cluster to serve", func() error { return c.settled(primaries, replicas) })
	return c
}

// Nodes returns all nodes, running or not: the first primaries, then the first
// replicas.
func (c *Cluster) Nodes() []*Server { return slices.Clone(c.nodes) }

// Addrs returns the addresses of [Cluster.Nodes].
func (c *Cluster) Addrs() []string { return addrs(c.nodes) }

// Primaries returns the nodes that are primaries now and not known to have
// failed, in the order of [Cluster.Nodes].
func (c *Cluster) Primaries() []*Server {
	c.t.Helper()
	top := c.view()
	return slices.DeleteFunc(c.Nodes(), func(s *Server) bool {
		n, ok := top.node(c.ids[s])
		return !ok || !n.has("master") || n.has("fail")
	})
}

// ReplicasOf returns the replicas of a primary, in the order of
// [Cluster.Nodes].
func (c *Cluster) ReplicasOf(primary *Server) []*Server {
	c.t.Helper()
	top := c.view()
	return slices.DeleteFunc(c.Nodes(), func(s *Server) bool {
		n, ok := top.node(c.ids[s])
		return !ok || n.master != c.ids[primary]
	})
}

// NodeForSlot returns the primary that owns a slot.
func (c *Cluster) NodeForSlot(slot int) *Server {
	c.t.Helper()
	owner := c.view().owner(slot)
	for _, n := range c.nodes {
		if c.ids[n] == owner {
			return n
		}
	}
	c.t.Fatalf("redistest: no node owns slot %d", slot)
	return nil
}

// SlotOf returns the slot of a key.
func (c *Cluster) SlotOf(key string) int {
	c.t.Helper()
	slot, _ := c.anyRunning().MustDo("CLUSTER", "KEYSLOT", key).(int64)
	return int(slot)
}

// Failover makes a replica the primary in an orderly way (CLUSTER FAILOVER): no
// write is lost. It returns once every running node knows, and the old primary
// follows the new one.
func (c *Cluster) Failover(replica *Server) {
	c.t.Helper()
	before, ok := c.view().node(c.ids[replica])
	if !ok || !before.has("slave") {
		c.t.Fatalf("redistest: fail over to %s: not a replica", replica.Addr())
	}
	replica.MustDo("CLUSTER", "FAILOVER")
	c.AwaitPromotion(replica)
	for _, n := range c.nodes {
		if c.ids[n] == before.master {
			mustAwait(c.t, "the old primary to follow", n.inSync)
		}
	}
}

// AwaitPromotion returns once every running node knows that a replica has
// become the primary of its slots: after its primary was stopped, the node
// timeout and about 2 s.
func (c *Cluster) AwaitPromotion(replica *Server) {
	c.t.Helper()
	mustAwait(c.t, "the promotion of "+replica.Addr(), func() error {
		return c.agree(func(top topology) error {
			if n, _ := top.node(c.ids[replica]); !n.has("master") || len(n.slots) == 0 {
				return errors.New("sees a replica")
			}
			return nil
		})
	})
}

// view is the topology as the first running node sees it.
func (c *Cluster) view() topology {
	c.t.Helper()
	top, err := c.anyRunning().topology()
	if err != nil {
		c.t.Fatalf("redistest: %v", err)
	}
	return top
}

func (c *Cluster) anyRunning() *Server {
	c.t.Helper()
	return firstRunning(c.t, c.nodes)
}

// agree returns nil if check passes on the view of every running node.
func (c *Cluster) agree(check func(topology) error) error {
	for _, n := range c.nodes {
		if !n.running() {
			continue
		}
		top, err := n.topology()
		if err == nil {
			err = check(top)
		}
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Addr(), err)
		}
	}
	return nil
}

// allMet returns nil once every node has a link to every other.
func (c *Cluster) allMet() error {
	return c.agree(func(top topology) error {
		if len(top) != len(c.nodes) || slices.ContainsFunc(top, func(n nodeView) bool { return !n.healthy() }) {
			return errors.New("does not see all nodes")
		}
		return nil
	})
}

// settled returns nil once the cluster is what StartCluster promises.
func (c *Cluster) settled(primaries, replicas int) error {
	if err := c.allMet(); err != nil {
		return err
	}
	err := c.agree(func(top topology) error {
		slaves := 0
		for _, n := range top {
			if n.has("slave") {
				slaves++
			}
		}
		if slaves != replicas {
			return fmt.Errorf("sees %d replicas, want %d", slaves, replicas)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, n := range c.nodes {
		v, err := n.Do("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		info := parseInfo(v)
		if info["cluster_state"] != "ok" || info["cluster_slots_ok"] != strconv.Itoa(slotCount) {
			return fmt.Errorf("node %s: cluster state %s, %s slots served", n.Addr(), info["cluster_state"], info["cluster_slots_ok"])
		}
		if i >= primaries {
			if err := n.inSync(); err != nil {
				return fmt.Errorf("replica %s: %w", n.Addr(), err)
			}
		}
	}
	return nil
}
