package redistest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := StartCluster(t, 3, 3)
	t.Logf("cluster of 3+3 serves after %v", time.Since(began))

	primaries := c.Primaries()
	if !slices.Equal(primaries, c.Nodes()[:3]) || len(c.Addrs()) != 6 {
		t.Fatalf("primaries %v of %v", addrs(primaries), c.Addrs())
	}
	for i, slot := range []int{0, 8000, slotCount - 1} {
		if got := c.NodeForSlot(slot); got != primaries[i] {
			t.Errorf("slot %d is at %s, want %s", slot, got.Addr(), primaries[i].Addr())
		}
	}
	migrateLive(t, c)
	askWindow(t, c)
	failOver(t, c)
}

// migrateLive moves a slot with more keys than one batch of MIGRATE.
func migrateLive(t *testing.T, c *Cluster) {
	slot := c.SlotOf("{a}")
	from := c.NodeForSlot(slot)
	to := other(c, from)
	for i := range 250 {
		from.MustDo("SET", fmt.Sprintf("{a}%d", i), fmt.Sprint(i))
	}
	c.MigrateSlots(from, to, slot, slot+1)
	if c.NodeForSlot(slot) != to || c.NodeForSlot(slot+1) != to {
		t.Errorf("slot %d did not move", slot)
	}
	for i := range 250 {
		if got := to.MustDo("GET", fmt.Sprintf("{a}%d", i)); got != fmt.Sprint(i) {
			t.Fatalf("key %d after the move = %v", i, got)
		}
	}
	if _, err := from.Do("GET", "{a}1"); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("GET at the source: %v, want MOVED", err)
	}
}

// askWindow checks the table beside MigrateSlots.
func askWindow(t *testing.T, c *Cluster) {
	slot := c.SlotOf("{b}")
	from := c.NodeForSlot(slot)
	to := other(c, from)
	from.MustDo("SET", "{b}stays", "v")
	from.MustDo("SET", "{b}moves", "v")
	c.BeginMigrate(from, to, slot)
	c.MoveKeys(from, to, "{b}moves")
	for _, step := range []struct {
		at     *Server
		asking bool
		keys   []string
		want   string
	}{
		{from, false, []string{"{b}stays"}, "[v]"},
		{from, false, []string{"{b}moves"}, fmt.Sprintf("ASK %d %s", slot, to.Addr())},
		{from, false, []string{"{b}new"}, fmt.Sprintf("ASK %d %s", slot, to.Addr())},
		{from, false, []string{"{b}stays", "{b}moves"}, "TRYAGAIN"},
		{to, false, []string{"{b}moves"}, fmt.Sprintf("MOVED %d %s", slot, from.Addr())},
		{to, true, []string{"{b}moves"}, "[v]"},
		{to, true, []string{"{b}stays"}, "[<nil>]"},
		{to, true, []string{"{b}stays", "{b}moves"}, "TRYAGAIN"},
	} {
		got := mget(t, step.at, step.asking, step.keys...)
		if !strings.HasPrefix(got, step.want) {
			t.Errorf("MGET %v, asking %v, at %s = %s, want %s", step.keys, step.asking, step.at.Addr(), got, step.want)
		}
	}
	c.FinishMigrate(from, to, slot)
	if got := mget(t, to, false, "{b}stays", "{b}moves"); got != "[v v]" {
		t.Errorf("MGET after the move = %s", got)
	}
}

func failOver(t *testing.T, c *Cluster) {
	old := c.Primaries()[0]
	replica := c.ReplicasOf(old)[0]
	slot := 0
	for c.NodeForSlot(slot) != old {
		slot++
	}
	c.Failover(replica)
	if c.NodeForSlot(slot) != replica || len(c.Primaries()) != 3 || !slices.Contains(c.ReplicasOf(replica), old) {
		t.Errorf("after the failover: slot %d at %s, primaries %v", slot, c.NodeForSlot(slot).Addr(), addrs(c.Primaries()))
	}
	old.Restart() // a node keeps its identity
	mustAwait(t, "the old primary to follow", old.inSync)
	replica.Stop() // and now the hard way
	c.AwaitPromotion(old)
	if c.NodeForSlot(slot) != old || len(c.Primaries()) != 3 {
		t.Errorf("after the crash: slot %d at %s, primaries %v", slot, c.NodeForSlot(slot).Addr(), addrs(c.Primaries()))
	}
}

func TestClusterWithTLSAndACL(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 2, 1, WithTLS(), WithPassword("secret"), WithACL("default off", "weir on >pw ~* +@all"))
	slot := c.SlotOf("k")
	from := c.NodeForSlot(slot)
	from.MustDo("SET", "k", "v")
	to := other(c, from)
	c.MigrateSlots(from, to, slot)
	if got := to.MustDo("GET", "k"); got != "v" {
		t.Errorf("GET after the move = %v", got)
	}
	c.Failover(c.Nodes()[2])
}

// other returns another primary.
func other(c *Cluster, n *Server) *Server {
	rest := slices.DeleteFunc(c.Primaries(), func(s *Server) bool { return s == n })
	return rest[0]
}

// mget returns the reply of MGET, error or not, as text.
func mget(t *testing.T, s *Server, asking bool, keys ...string) string {
	t.Helper()
	conn, err := dial(s.Addr(), s.cfg, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if asking {
		if _, err := conn.do("ASKING"); err != nil {
			t.Fatal(err)
		}
	}
	v, err := conn.do(append([]string{"MGET"}, keys...)...)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}
