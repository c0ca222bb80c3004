package redisstore

import (
	"context"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestInspectCluster looks at a cluster through one of its replicas.
func TestInspectCluster(t *testing.T) {
	t.Parallel()
	cl := redistest.StartCluster(t, 3, 3, redistest.WithConfig("cluster-require-full-coverage", "no"),
		redistest.WithACL(aclUser(aclClusterCommands), "root on >hush ~* &* +@all"))
	nodes := cl.Nodes()
	o := Options{Addrs: []string{nodes[5].Addr()}, Mode: Cluster, Credentials: Password("root", "hush"), Prefix: aclPrefix}
	found := inspect(t, o)
	wantNothing(t, found)
	for i, n := range nodes {
		role := "primary"
		if i >= 3 {
			role = "replica"
		}
		wantFinding(t, found, doctor.CheckRole, n.Addr(), doctor.OK, role)
		wantFinding(t, found, doctor.CheckCoverage, n.Addr(), doctor.OK)
		wantFinding(t, found, doctor.CheckLatency, n.Addr(), doctor.OK)
		wantFinding(t, found, doctor.CheckACL, n.Addr(), doctor.OK)
	}
	wantFinding(t, found, doctor.CheckCluster, "", doctor.OK, "16384 slots", "3 primaries")
	wantFinding(t, found, doctor.CheckClock, "", doctor.OK)

	t.Run("full coverage", func(t *testing.T) {
		nodes[1].ConfigSet("cluster-require-full-coverage", "yes")
		defer nodes[1].ConfigSet("cluster-require-full-coverage", "no")
		found := inspect(t, o)
		wantFinding(t, found, doctor.CheckCoverage, nodes[1].Addr(), doctor.Warn, "CONFIG SET cluster-require-full-coverage no")
		wantFinding(t, found, doctor.CheckCoverage, nodes[0].Addr(), doctor.OK)
	})
	t.Run("the documented user", func(t *testing.T) {
		found := inspect(t, asACLUser(o))
		wantFinding(t, found, doctor.CheckACL, nodes[0].Addr(), doctor.OK)
		wantFinding(t, found, doctor.CheckCoverage, nodes[0].Addr(), doctor.Unknown, "parameters")
		if doctor.Worst(found) != doctor.Unknown {
			t.Errorf("found:\n%s", listed(found))
		}
	})
	t.Run("a replica that does not know the user", func(t *testing.T) {
		nodes[4].MustDo("ACL", "DELUSER", "weir")
		wantFinding(t, inspect(t, asACLUser(o)), doctor.CheckReachable, nodes[4].Addr(), doctor.Warn, "WRONGPASS")
	})
	t.Run("taken for a single server", func(t *testing.T) {
		o := o
		o.Mode = Single
		wantFinding(t, inspect(t, o), doctor.CheckRole, nodes[5].Addr(), doctor.Fail, "--redis-mode cluster")
	})
	t.Run("brief", func(t *testing.T) {
		facts, err := Inspect(context.Background(), o, Inspection{Brief: true})
		if err != nil || len(facts.Nodes) != 3 || facts.Nodes[0].Info["maxmemory_policy"] != "noeviction" || len(facts.Nodes[0].Tried) > 0 {
			t.Errorf("%+v, %v", facts, err)
		}
	})
	t.Run("a replica is lost", func(t *testing.T) {
		nodes[3].Stop()
		o := o
		o.Addrs = []string{nodes[3].Addr(), nodes[0].Addr()} // the first is asked in vain
		found := inspect(t, o)
		if doctor.Worst(found) != doctor.Warn {
			t.Errorf("found:\n%s", listed(found))
		}
	})
}

func TestInspectNotACluster(t *testing.T) {
	srv := redistest.Start(t)
	found := inspect(t, Options{Addrs: []string{srv.Addr()}, Mode: Cluster})
	wantFinding(t, found, doctor.CheckReachable, "", doctor.Fail, "cluster support disabled")
	wantFinding(t, found, doctor.CheckRole, srv.Addr(), doctor.Fail, "--redis-mode single")
}

// TestInspectNoSentinel: a Redis that is taken for one is not too old.
func TestInspectNoSentinel(t *testing.T) {
	srv := redistest.Start(t)
	found := inspect(t, Options{Addrs: []string{srv.Addr()}, Mode: Sentinel, MasterName: "m"})
	wantFinding(t, found, doctor.CheckSentinel, srv.Addr(), doctor.Warn, "it is no sentinel", "leave --redis-master out")
	if strings.Contains(listed(found), "upgrade") {
		t.Errorf("found:\n%s", listed(found))
	}
}

func TestInspectSentinel(t *testing.T) {
	t.Parallel()
	st := redistest.StartSentinel(t, 3, 1)
	primary, replica := st.Nodes()[0], st.Nodes()[1]
	o := Options{Addrs: st.Addrs(), Mode: Sentinel, MasterName: st.MasterName()}
	found := inspect(t, o)
	wantNothing(t, found)
	wantFinding(t, found, doctor.CheckRole, primary.Addr(), doctor.OK, "primary")
	wantFinding(t, found, doctor.CheckRole, replica.Addr(), doctor.OK, "replica")
	for _, addr := range st.Addrs() {
		wantFinding(t, found, doctor.CheckSentinel, addr, doctor.OK, primary.Addr(), "watched by 3", "quorum 2", "replicas 1")
	}

	single := Options{Addrs: st.Addrs()[:1]}
	wantFinding(t, inspect(t, single), doctor.CheckRole, single.Addrs[0], doctor.Fail, "--redis-master")

	unknown := o
	unknown.MasterName = "nobody"
	found = inspect(t, unknown)
	wantFinding(t, found, doctor.CheckReachable, "", doctor.Fail, "nobody", "SENTINEL MASTERS")

	// A sentinel that says little, and one that is gone.
	st.Sentinels()[0].MustDo("ACL", "SETUSER", "watcher", "on", ">also", "-@all", "+sentinel|get-master-addr-by-name", "+ping")
	less := o
	less.Addrs, less.SentinelCredentials = st.Addrs()[:1], Password("watcher", "also")
	wantFinding(t, inspect(t, less), doctor.CheckSentinel, less.Addrs[0], doctor.Unknown, "+sentinel|master")
	st.Sentinels()[2].Stop()
	found = inspect(t, o)
	wantFinding(t, found, doctor.CheckSentinel, st.Addrs()[2], doctor.Warn, "refused")
	wantFinding(t, found, doctor.CheckRole, primary.Addr(), doctor.OK)
}
