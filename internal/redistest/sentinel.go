package redistest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
)

// masterName is what sentinels call the primary they watch.
const masterName = "weir"

// Sentinel is a primary with replicas, and the sentinels that watch them. A
// primary is down after 1 s without an answer; a majority of the sentinels must
// agree; a failover that does not end within 3 s may be tried again.
type Sentinel struct {
	t         testing.TB
	nodes     []*Server // the first primary, then its replicas
	sentinels []*Server
}

// StartSentinel runs a primary, its replicas and its sentinels (three, as a
// rule). It returns once every sentinel knows all the others and all replicas,
// which are in sync. Passwords and ACLs protect the data nodes; sentinels have
// none.
func StartSentinel(t testing.TB, sentinels, replicas int, opts ...Option) *Sentinel {
	t.Helper()
	if sentinels < 1 || replicas < 0 {
		t.Fatalf("redistest: %d sentinels and %d replicas", sentinels, replicas)
	}
	cfg := newConfig(t, opts)
	primary := start(t, cfg)
	s := &Sentinel{t: t, nodes: []*Server{primary}}
	cfg.replicaOf = primary.Addr()
	for range replicas {
		s.nodes = append(s.nodes, start(t, cfg))
	}
	watch := sentinelConfig(cfg, primary, sentinels/2+1)
	for range sentinels {
		n := start(t, watch)
		// Sentinels find each other by a message every 2 s, see new roles by
		// an INFO every 10 s, and demote an old primary after four messages.
		// Redis's own tests shorten these as well. Absent before Redis 7,
		// where it is only slower.
		_, _ = n.Do("SENTINEL", "DEBUG", "PUBLISH-PERIOD", "200", "INFO-PERIOD", "500") // ms
		s.sentinels = append(s.sentinels, n)
	}
	mustAwait(t, "the sentinels to know each other and the replicas", s.settled)
	return s
}

// sentinelConfig is the configuration of a sentinel for primary.
func sentinelConfig(cfg config, primary *Server, quorum int) config {
	watch := config{sentinel: true, tls: cfg.tls, certs: cfg.certs}
	watch = watch.with(
		[]string{"sentinel", "monitor", masterName, "127.0.0.1", strconv.Itoa(primary.Port()), strconv.Itoa(quorum)},
		[]string{"sentinel", "down-after-milliseconds", masterName, "1000"},
		[]string{"sentinel", "failover-timeout", masterName, "3000"}, // ms
	)
	user, password := cfg.credentials()
	if password != "" {
		watch.extra = append(watch.extra, []string{"sentinel", "auth-pass", masterName, password})
	}
	if len(cfg.acl) > 0 {
		watch.extra = append(watch.extra, []string{"sentinel", "auth-user", masterName, user})
	}
	return watch
}

// MasterName returns the name clients ask the sentinels for.
func (s *Sentinel) MasterName() string { return masterName }

// Addrs returns the addresses of the sentinels.
func (s *Sentinel) Addrs() []string { return addrs(s.sentinels) }

// Sentinels returns the sentinels.
func (s *Sentinel) Sentinels() []*Server { return slices.Clone(s.sentinels) }

// Nodes returns the data nodes: the first primary, then its replicas.
func (s *Sentinel) Nodes() []*Server { return slices.Clone(s.nodes) }

// Primary returns the node that the first running sentinel calls the primary.
// While a failover is under way that may be the old one.
func (s *Sentinel) Primary() *Server {
	s.t.Helper()
	n, err := s.primaryOf(firstRunning(s.t, s.sentinels))
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	return n
}

// Failover has the sentinels promote a replica, without asking whether the
// primary is down, and waits as [Sentinel.AwaitFailover] does. Writes that were
// not replicated yet are lost.
func (s *Sentinel) Failover() {
	s.t.Helper()
	old := s.Primary()
	first := firstRunning(s.t, s.sentinels)
	mustAwait(s.t, "a sentinel to accept the failover", func() error {
		_, err := first.Do("SENTINEL", "FAILOVER", masterName) // NOGOODSLAVE, INPROG
		return err
	})
	s.AwaitFailover(old)
}

// AwaitFailover returns once every running sentinel names a primary other than
// old, which accepts writes, and old, if it runs, follows it.
func (s *Sentinel) AwaitFailover(old *Server) {
	s.t.Helper()
	mustAwait(s.t, "the failover", func() error {
		for _, sentinel := range s.sentinels {
			if !sentinel.running() {
				continue
			}
			now, err := s.primaryOf(sentinel)
			if err != nil {
				return err
			}
			if now == old {
				return fmt.Errorf("sentinel %s still names %s", sentinel.Addr(), old.Addr())
			}
			if role, err := now.role(); role != "master" {
				return errors.Join(fmt.Errorf("role of %s is %q", now.Addr(), role), err)
			}
		}
		if old.running() {
			return old.inSync()
		}
		return nil
	})
}

// primaryOf asks one sentinel for the primary.
func (s *Sentinel) primaryOf(sentinel *Server) (*Server, error) {
	v, err := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
	if err != nil {
		return nil, err
	}
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		host, _ := pair[0].(string)
		port, _ := pair[1].(string)
		addr := net.JoinHostPort(host, port)
		if i := slices.IndexFunc(s.nodes, func(n *Server) bool { return n.Addr() == addr }); i >= 0 {
			return s.nodes[i], nil
		}
	}
	return nil, fmt.Errorf("sentinel %s names %v, which is no node of this set", sentinel.Addr(), v)
}

// settled returns nil once the set is what StartSentinel promises.
func (s *Sentinel) settled() error {
	want := map[string]string{
		"flags":               "master",
		"num-slaves":          strconv.Itoa(len(s.nodes) - 1),
		"num-other-sentinels": strconv.Itoa(len(s.sentinels) - 1),
	}
	for _, sentinel := range s.sentinels {
		v, err := sentinel.Do("SENTINEL", "MASTER", masterName)
		if err != nil {
			return err
		}
		got := parsePairs(v)
		for field, value := range want {
			if got[field] != value {
				return fmt.Errorf("sentinel %s: %s is %q, want %q", sentinel.Addr(), field, got[field], value)
			}
		}
		if v, err = sentinel.Do("SENTINEL", "REPLICAS", masterName); err != nil {
			return err
		}
		replicas, _ := v.([]any)
		for _, r := range replicas {
			if got := parsePairs(r); got["flags"] != "slave" || got["master-link-status"] != "ok" {
				return fmt.Errorf("sentinel %s: replica is %q, its link %q", sentinel.Addr(), got["flags"], got["master-link-status"])
			}
		}
	}
	return nil
}

// parsePairs turns a flat list of names and values into a map.
func parsePairs(v any) map[string]string {
	items, _ := v.([]any)
	fields := make(map[string]string)
	for i := 0; i+1 < len(items); i += 2 {
		name, _ := items[i].(string)
		fields[name], _ = items[i+1].(string)
	}
	return fields
}
