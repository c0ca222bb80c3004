package doctor

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// good is a primary with nothing to say about.
func good() Node {
	return Node{
		Addr: "a:1", Server: "redis", Version: "7.0.15", Kind: "standalone", Role: "master",
		Info: map[string]string{
			"used_memory": "1000000", "maxmemory": "0", "total_system_memory": "1000000000", "maxmemory_policy": "noeviction",
			"evicted_keys": "0", "connected_clients": "3", "maxclients": "10000", "connected_slaves": "0", "aof_enabled": "0",
			"latest_fork_usec": "0", "rdb_last_bgsave_status": "ok", "min_slaves_good_slaves": "1",
		},
		Config: map[string]string{
			"maxmemory": "0", "maxmemory-policy": "noeviction", "appendonly": "no", "appendfsync": "everysec", "save": "",
			"replica-read-only": "yes", "min-replicas-to-write": "0", "timeout": "0", "tcp-keepalive": "300",
			"busy-reply-threshold": "5000", "maxclients": "10000",
			"cluster-require-full-coverage": "no", "cluster-node-timeout": "2000",
		},
		Rounds: spans(50, 200*time.Microsecond), Scripts: spans(50, 300*time.Microsecond),
		Clock: &Offset{Ahead: time.Millisecond, Within: 100 * time.Microsecond},
		Tried: []Try{{Command: "evalsha"}, {Command: "set"}}, Slow: &Slow{},
	}
}

func spans(n int, d time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = d
	}
	return out
}

func denied(command, text string) Try {
	return Try{Command: command, Err: &weir.Error{Code: weir.CodeNoPerm, Message: "redis: NOPERM " + text}}
}

const (
	noCommand = "this user has no permissions to run the 'x' command"
	noKey     = "this user has no permissions to access one of the keys used as arguments"
)

func TestJudgeNode(t *testing.T) {
	info := func(pairs ...string) func(*Facts, *Node) {
		return func(_ *Facts, n *Node) { put(n.Info, pairs) }
	}
	config := func(pairs ...string) func(*Facts, *Node) {
		return func(_ *Facts, n *Node) { put(n.Config, pairs) }
	}
	for _, tc := range []struct {
		name   string
		change func(*Facts, *Node)
		check  string
		status Status
		seen   string // a part of
		do     string
	}{
		{"nobody there", func(_ *Facts, n *Node) { n.Err = &weir.Error{Message: "refused", Hint: "start it"} }, CheckReachable, Fail, "refused", "start it"},
		{"a replica is away", func(_ *Facts, n *Node) { n.Err, n.Replica = &weir.Error{Message: "refused"}, true }, CheckReachable, Warn, "refused", "address"},

		{"old", func(_ *Facts, n *Node) { n.Version = "6.2.14" }, CheckVersion, Fail, "Redis 6.2.14", "upgrade"},
		{"oldest that will do", func(_ *Facts, n *Node) { n.Version = "7.0.0" }, CheckVersion, OK, "Redis 7.0.0", ""},
		{"two digits", func(_ *Facts, n *Node) { n.Version = "10.1-rc1" }, CheckVersion, OK, "10.1", ""},
		{"valkey says what it is compatible with", func(_ *Facts, n *Node) { n.Version = "7.2.4"; n.Info["valkey_version"] = "8.1.0" }, CheckVersion, OK, "Valkey 8.1.0", ""},
		{"no version", func(_ *Facts, n *Node) { n.Version = "" }, CheckVersion, Unknown, "", "7.0"},

		{"a replica for a primary", func(_ *Facts, n *Node) {
			n.Role = "slave"
			put(n.Info, []string{"master_host", "b", "master_port", "2"})
		}, CheckRole, Fail, "replica", "b:2"},
		{"a sentinel", func(_ *Facts, n *Node) { n.Role, n.Kind = "sentinel", "sentinel" }, CheckRole, Fail, "sentinel", "--redis-master"},
		{"a cluster's node for a server", func(_ *Facts, n *Node) { n.Kind = "cluster" }, CheckRole, Fail, "cluster", "--redis-mode cluster"},
		{"a server for a cluster's node", func(f *Facts, _ *Node) { f.Mode = Cluster }, CheckRole, Fail, "not a node", "--redis-mode single"},
		{"role unknown", func(_ *Facts, n *Node) { n.Role = "" }, CheckRole, Unknown, "", "+role"},
		{"a replica that lost its primary", func(f *Facts, n *Node) {
			f.Mode, n.Role, n.Replica = Sentinel, "slave", true
			put(n.Info, []string{"master_link_status", "down"})
		}, CheckRole, Warn, "link", "log"},

		{"lru", config("maxmemory-policy", "allkeys-lru"), CheckEviction, Fail, "allkeys-lru", "CONFIG SET maxmemory-policy noeviction"},
		{"volatile", config("maxmemory-policy", "volatile-ttl"), CheckEviction, Fail, "volatile-ttl", "noeviction"},
		{"managed, lru", func(_ *Facts, n *Node) { n.Config = nil; n.Info["maxmemory_policy"] = "volatile-lru" }, CheckEviction, Fail, "volatile-lru", "service's parameters"},
		{"managed, good", func(_ *Facts, n *Node) { n.Config = nil }, CheckEviction, OK, "noeviction", ""},
		{"neither", func(_ *Facts, n *Node) { n.Config, n.Info = nil, nil }, CheckEviction, Unknown, "INFO", "+info"},
		{"evicted before", info("evicted_keys", "3"), CheckEviction, Warn, "3 keys", "RESETSTAT"},

		{"nearly full", config("maxmemory", "1200000"), CheckMemory, Warn, "83%", "raise maxmemory"},
		{"full", config("maxmemory", "1000001"), CheckMemory, Fail, "99%", "raise maxmemory"},
		{"half", config("maxmemory", "2000000"), CheckMemory, OK, "50%", ""},
		{"the machine is full", info("total_system_memory", "1000000"), CheckMemory, Fail, "no maxmemory", "CONFIG SET maxmemory"},

		{"always", config("appendonly", "yes", "appendfsync", "always"), CheckPersistence, Fail, "always", "appendfsync everysec"},
		{"always, and not used", config("appendfsync", "always"), CheckPersistence, OK, "no append-only", ""},
		{"every second", config("appendonly", "yes"), CheckPersistence, OK, "everysec", ""},
		{"managed, appending", func(_ *Facts, n *Node) { n.Config = nil; n.Info["aof_enabled"] = "1" }, CheckPersistence, Unknown, "appendfsync", "parameters"},
		{"slow disk", func(_ *Facts, n *Node) { n.Config["appendonly"] = "yes"; n.Info["aof_delayed_fsync"] = "4" }, CheckPersistence, Warn, "4 times", ""},
		{"disk full", func(_ *Facts, n *Node) { n.Config["appendonly"] = "yes"; n.Info["aof_last_write_status"] = "err" }, CheckPersistence, Fail, "refused", "disk"},
		{"slow fork", info("latest_fork_usec", "10001"), CheckPersistence, Warn, "10", "save"},
		{"fork in time", info("latest_fork_usec", "10000"), CheckPersistence, OK, "last fork 10ms", ""},
		{"snapshot failed", func(_ *Facts, n *Node) { n.Info["rdb_last_bgsave_status"] = "err"; n.Config["save"] = "60 1" }, CheckPersistence, Fail, "refused", "disk"},
		{"snapshot failed once", info("rdb_last_bgsave_status", "err"), CheckPersistence, Warn, "failed", ""},

		{"writable replicas", config("replica-read-only", "no"), CheckReplication, Warn, "deciding", "replica-read-only yes"},
		{"writable replicas behind sentinels", func(f *Facts, n *Node) { f.Mode = Sentinel; n.Config["replica-read-only"] = "no" }, CheckReplication, Fail, "deciding", "yes"},
		{"too few replicas", config("min-replicas-to-write", "2"), CheckReplication, Fail, "refused", "min-replicas-to-write 0"},
		{"just enough replicas", config("min-replicas-to-write", "1"), CheckReplication, Warn, "loss of one", ""},

		{"crowded", info("connected_clients", "8000"), CheckClients, Warn, "8000 of 10000", "maxclients"},
		{"idle connections are closed", config("timeout", "30"), CheckClients, Warn, "30 s", "timeout 0"},
		{"no keepalive", config("tcp-keepalive", "0"), CheckClients, Warn, "tcp-keepalive", "300"},
		{"scripts for ever", config("busy-reply-threshold", "0"), CheckClients, Warn, "script", "5000"},

		{"far away", func(_ *Facts, n *Node) { n.Scripts = spans(50, 11*time.Millisecond) }, CheckLatency, Fail, "on_failure", "--deadline"},
		{"one slow", func(_ *Facts, n *Node) { n.Rounds[49] = 6 * time.Millisecond }, CheckLatency, Warn, "p99 6ms", "12ms"},
		{"within half", func(_ *Facts, n *Node) { n.Scripts = spans(50, 5*time.Millisecond) }, CheckLatency, OK, "p50 5ms", ""},

		{"somebody's KEYS", func(_ *Facts, n *Node) { n.Slow = &Slow{Entries: 1, Worst: 10 * time.Millisecond, Command: "KEYS"} }, CheckSlowLog, Warn, "KEYS took 10ms", "SLOWLOG"},
		{"spike", func(_ *Facts, n *Node) { n.Spikes = []Spike{{"fork", 20 * time.Millisecond}} }, CheckSlowLog, Warn, "fork of 20ms", "LATENCY"},
		{"forbidden", func(_ *Facts, n *Node) { n.Slow = nil }, CheckSlowLog, Unknown, "", "+slowlog|get"},

		{"this machine is off", func(_ *Facts, n *Node) { n.Clock.Ahead = -1100 * time.Millisecond }, CheckClock, Warn, "1.1s behind", "chrony"},
		{"nobody can tell", func(_ *Facts, n *Node) { n.Clock = &Offset{2 * time.Second, 2 * time.Second} }, CheckClock, OK, "as this machine's", ""},

		{"no evalsha", func(f *Facts, n *Node) {
			f.User = "weir"
			n.Tried = []Try{denied("evalsha", noCommand), {Command: "set"}}
		}, CheckACL, Fail, "evalsha", "ACL SETUSER weir +evalsha,"},
		{"no keys", func(f *Facts, n *Node) { f.Prefix = "weir:"; n.Tried = []Try{denied("get", noKey)} }, CheckACL, Fail, `"weir:"`, "ACL SETUSER default ~weir:*,"},
		{"no ping", func(_ *Facts, n *Node) { n.Tried = []Try{denied("ping", noCommand)} }, CheckACL, Warn, "ACL LOG", "+ping"},
		{"another node's slot", func(_ *Facts, n *Node) { n.Tried = []Try{{"set", &weir.Error{Code: weir.CodeMoved}}} }, CheckACL, OK, "", ""},
		{"memory at its end", func(_ *Facts, n *Node) {
			n.Tried = []Try{{"set", &weir.Error{Code: weir.CodeOOM, Message: "OOM", Hint: "raise it"}}}
		}, CheckWrites, Fail, "OOM", "raise it"},

		{"full coverage", inCluster("cluster-require-full-coverage", "yes"), CheckCoverage, Warn, "every slot", "cluster-require-full-coverage no"},
		{"part coverage", inCluster(), CheckCoverage, OK, "no", ""},
		{"coverage unknown", func(f *Facts, n *Node) { inCluster()(f, n); n.Config = nil }, CheckCoverage, Unknown, "CONFIG GET", "parameters for cluster-require-full-coverage"},
		{"slow to notice", inCluster("cluster-node-timeout", "15000"), CheckNodeTimeout, Warn, "15s", "3000"},
		{"quick to notice", inCluster("cluster-node-timeout", "500"), CheckNodeTimeout, Warn, "pause", "3000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := Facts{Deadline: 10 * time.Millisecond, Nodes: []Node{good()}}
			tc.change(&f, &f.Nodes[0])
			found := Judge(&f)
			for _, got := range found {
				if got.Status != OK && got.Do == "" {
					t.Errorf("%+v does not say what to do", got)
				}
				if got.Check == tc.check && got.Status == tc.status && got.Node == "a:1" &&
					strings.Contains(got.Seen, tc.seen) && strings.Contains(got.Do, tc.do) {
					return
				}
			}
			t.Errorf("no %s %s with %q and %q in %+v", tc.check, tc.status, tc.seen, tc.do, found)
		})
	}
}

func inCluster(pairs ...string) func(*Facts, *Node) {
	return func(f *Facts, n *Node) {
		f.Mode, n.Kind = Cluster, "cluster"
		put(n.Config, pairs)
	}
}

func put(m map[string]string, pairs []string) {
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
}

// TestJudgeGood: nothing is made up about a server that is as it should be, and
// what is forbidden is unknown and never ok or wrong.
func TestJudgeGood(t *testing.T) {
	f := Facts{Deadline: 10 * time.Millisecond, Nodes: []Node{good()}}
	found := Judge(&f)
	checks := map[string]bool{}
	for _, got := range found {
		checks[got.Check] = true
		if got.Status != OK || got.Do != "" || got.Seen == "" {
			t.Errorf("%+v", got)
		}
	}
	if Worst(found) != OK || len(checks) != len(found) || len(found) != 13 {
		t.Errorf("%d findings of %v, the worst %s", len(found), checks, Worst(found))
	}

	f.Nodes[0].Info, f.Nodes[0].Config, f.Nodes[0].Slow = nil, nil, nil
	unknown := 0
	for _, got := range Judge(&f) {
		switch got.Status {
		case Unknown:
			unknown++
		case OK:
		default:
			t.Errorf("%+v", got)
		}
	}
	if unknown != 6 {
		t.Errorf("%d unknown, want 6", unknown)
	}
}

func TestWorst(t *testing.T) {
	var found []Finding
	for _, s := range []Status{OK, Unknown, Warn, Fail} {
		found = append([]Finding{{Status: s}}, found...)
		if got := Worst(found); got != s {
			t.Errorf("worst %s, want %s", got, s)
		}
	}
}

// TestChecksAreDocumented: docs/doctor.md has a row for every check, and no
// other.
func TestChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, m[1])
	}
	want := []string{
		CheckReachable, CheckVersion, CheckRole, CheckWrites, CheckACL, CheckEviction, CheckMemory, CheckPersistence,
		CheckReplication, CheckCoverage, CheckNodeTimeout, CheckCluster, CheckSentinel, CheckClients, CheckLatency,
		CheckSlowLog, CheckClock,
	}
	if !slices.Equal(rows, want) {
		t.Errorf("documented are %v, want %v", rows, want)
	}
}
