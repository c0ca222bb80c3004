package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// isolate cuts a node of a cluster with TLS off from the others, and not from
// its clients: on the bus it trusts nobody any more, and nobody needs a
// certificate to be its client. A restart ends the links that there are.
func isolate(t *testing.T, n *redistest.Server) {
	t.Helper()
	n.ConfigSet("tls-auth-clients", "no")
	n.ConfigSet("tls-ca-cert-file", redistest.NewCerts(t).CAFile)
	n.MustDo("CONFIG", "REWRITE")
	n.Restart()
}

// A primary that its cluster has lost, and clients have not, is replaced. It goes
// on saying that it serves its slots, and that they are down.
func TestClusterIsolatedPrimaryIsReplaced(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, 3, redistest.WithTLS(),
		redistest.WithConfig("cluster-require-full-coverage", "no"), redistest.WithConfig("cluster-node-timeout", "1000")) // ms
	old := c.Nodes()[0]
	first, second := c.ReplicasOf(old)[0], c.ReplicasOf(c.Nodes()[1])[0]
	o := Options{Addrs: c.Addrs()[:1], Mode: Cluster, TLS: old.Certs().ClientConfig()}
	s, idle := open(t, o), open(t, o)
	m := still(1_000_000)
	k, other := keyOf(s, 0), keyOf(s, 1)
	admit(t, s, one(k, m))
	admit(t, idle, one(other, m))
	isolate(t, old)
	eventually(t, "the promotion", func() error { return isPrimary(first) })
	decidedBy(t, s, k, first)

	// Who has no business with that primary, and has heard nothing bad of it,
	// hears from the others what else has changed.
	second.MustDo("CLUSTER", "FAILOVER")
	eventually(t, "the failover", func() error { return isPrimary(second) })
	decidedBy(t, idle, other, second)
	if serving(idle, k) == old.Addr() {
		t.Errorf("%s still serves, for a store that has heard of what followed", old.Addr())
	}
}

func isPrimary(n *redistest.Server) error {
	role, _ := n.MustDo("ROLE").([]any)
	if len(role) == 0 || role[0] != "master" {
		return fmt.Errorf("its role is %v", role)
	}
	return nil
}

// decidedBy decides an entry, and has the store learn who serves its key.
func decidedBy(t *testing.T, s *Store, k string, n *redistest.Server) {
	t.Helper()
	began := time.Now()
	admit(t, s, one(k, still(1_000_000)))
	eventually(t, "the store to know its primary", func() error {
		if addr := serving(s, k); addr != n.Addr() {
			return fmt.Errorf("%s serves %s, want %s", addr, k, n.Addr())
		}
		return nil
	})
	t.Logf("known %v after the promotion", time.Since(began).Round(time.Millisecond))
}

// serving is the node that a key's entries are sent to.
func serving(s *Store, k string) string { return s.topo.Load().slots[s.slotOf(k)].addr }

// keyOf returns a key that the store's shard i serves.
func keyOf(s *Store, i int) string {
	t := s.topo.Load()
	for n := 0; ; n++ {
		if k := fmt.Sprint("k", n); t.slots[s.slotOf(k)] == t.shards[i] {
			return k
		}
	}
}
