package doctor

import (
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
)

// unreachable says why a server cannot be asked.
func unreachable(addr string, err *weir.Error, status Status) Finding {
	bare := *err
	bare.Hint = ""
	seen, do := bare.Error(), err.Hint
	switch {
	case do != "":
	case err.Code == weir.CodeTimeout:
		seen = "no answer in time: " + seen
		do = "see whether the server hangs (redis-cli PING there), whether the address is right, and whether a firewall drops what is sent"
	default:
		do = "see whether the address is right, the server runs and the network lets you through"
	}
	return Finding{Check: CheckReachable, Node: addr, Status: status, Seen: seen, Do: do}
}

// minVersion is the first major version whose scripts may use keys across
// slots, and whose ACLs and functions Weir was written for.
const minVersion = 7

// version judges what runs there. Valkey began at 7.2.
func (j *judge) version() {
	name, text := "Redis", j.node.Version
	if v := j.node.Info["valkey_version"]; v != "" {
		name, text = "Valkey", v
	} else if j.node.Server == "valkey" {
		name = "Valkey"
	}
	major, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(major)
	switch {
	case err != nil:
		j.add(CheckVersion, Unknown, "the server does not say its version", "see that it is Redis 7.0 or Valkey 7.2 or newer")
	case n < minVersion:
		j.add(CheckVersion, Fail, name+" "+text+" is too old", "upgrade to Redis 7.0 or Valkey 7.2 or newer")
	default:
		j.add(CheckVersion, OK, name+" "+text, "")
	}
}

// role judges whether the server is what it is taken for.
func (j *judge) role() {
	n := j.node
	switch {
	case n.Kind == "sentinel" || n.Role == "sentinel":
		j.add(CheckRole, Fail, "is a sentinel, which keeps no data",
			"give --redis-master NAME, or the address of the primary")
	case n.Kind == "cluster" && j.facts.Mode != Cluster:
		j.add(CheckRole, Fail, "is a node of a cluster: most keys live elsewhere", "give --redis-mode cluster")
	case n.Kind == "standalone" && j.facts.Mode == Cluster:
		j.add(CheckRole, Fail, "is not a node of a cluster", "give --redis-mode single, or set cluster-enabled yes")
	case n.Role == "":
		j.add(CheckRole, Unknown, "the server does not tell its role", "ACL SETUSER "+userName(j.facts.User)+" +role")
	case n.Role == "slave" && !n.Replica:
		j.replicaForPrimary()
	case n.Role == "master" && n.Replica:
		j.add(CheckRole, Warn, "is a primary, and was called a replica", "run weir doctor again: a failover may be under way")
	case n.Role == "master":
		j.add(CheckRole, OK, "primary", "")
	case n.Info["master_link_status"] == "down":
		j.add(CheckRole, Warn, "replica, and its link to the primary is down: promoted, it would know old counts",
			"see its log; INFO replication tells since when")
	default:
		j.add(CheckRole, OK, "replica", "")
	}
}

// replicaForPrimary: Weir refuses a replica, whose counts lag behind.
func (j *judge) replicaForPrimary() {
	do := "give the primary's address"
	if host, port := j.node.Info["master_host"], j.node.Info["master_port"]; host != "" {
		do += ", " + host + ":" + port
	}
	switch j.facts.Mode {
	case Single:
		do += ", or the sentinels and --redis-master"
	default:
		do = "run weir doctor again: a failover may be under way; if it stays, see the log of the sentinels or the cluster"
	}
	j.add(CheckRole, Fail, "is a replica: its counts lag behind, and Weir refuses it", do)
}
