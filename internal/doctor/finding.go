package doctor

import (
	"fmt"
	"slices"
)

// Status is how bad a finding is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // costs more than it must, or leaves little room
	Fail    Status = "fail"    // must change: limits do not hold, or will not
	Unknown Status = "unknown" // could not be seen
)

// Finding is one thing that was judged.
type Finding struct {
	Check  string // one word or two: see the constants
	Node   string // host:port, "" for the arrangement as a whole
	Status Status
	Seen   string
	Do     string // the exact command or setting; "" when all is well
}

// The checks. Their names are part of the output: programs read them.
const (
	CheckReachable   = "reachable"
	CheckVersion     = "version"
	CheckRole        = "role"
	CheckEviction    = "eviction"
	CheckMemory      = "memory"
	CheckPersistence = "persistence"
	CheckReplication = "replication"
	CheckCoverage    = "full-coverage"
	CheckNodeTimeout = "node-timeout"
	CheckCluster     = "cluster"
	CheckSentinel    = "sentinel"
	CheckClients     = "clients"
	CheckLatency     = "latency"
	CheckSlowLog     = "slow-log"
	CheckClock       = "clock"
	CheckACL         = "acl"
	CheckWrites      = "writes"
)

// Judge says what is right and wrong with what was seen: first about the
// arrangement, then node by node.
func Judge(f *Facts) []Finding {
	var out []Finding
	if f.Err != nil {
		out = append(out, unreachable("", f.Err, Fail))
	}
	out = append(out, judgeSentinels(f)...)
	out = append(out, judgeCluster(f)...)
	for i := range f.Nodes {
		out = append(out, judgeNode(f, &f.Nodes[i])...)
	}
	return append(out, judgeClocks(f)...)
}

// Worst returns the worst status of some findings. Unknown is worse than ok
// and better than a warning.
func Worst(findings []Finding) Status {
	worst := OK
	for i := range findings {
		if rank(findings[i].Status) > rank(worst) {
			worst = findings[i].Status
		}
	}
	return worst
}

func rank(s Status) int { return slices.Index([]Status{OK, Unknown, Warn, Fail}, s) }

// judgeNode judges one server.
func judgeNode(f *Facts, n *Node) []Finding {
	if n.Err != nil {
		status := Fail
		if n.Replica { // decisions go on; the next failover may not
			status = Warn
		}
		return []Finding{unreachable(n.Addr, n.Err, status)}
	}
	j := judge{facts: f, node: n}
	j.add(CheckReachable, OK, "answers as "+userName(f.User), "")
	j.version()
	j.role()
	j.access()
	j.eviction()
	j.memory()
	j.persistence()
	j.replication()
	j.clusterSettings()
	j.clients()
	j.latency()
	j.slowLog()
	j.clock()
	return j.found
}

// judge is the judgement of a node while it is made.
type judge struct {
	facts *Facts
	node  *Node
	found []Finding
}

func (j *judge) add(check string, s Status, seen, do string) {
	j.found = append(j.found, Finding{Check: check, Node: j.node.Addr, Status: s, Seen: seen, Do: do})
}

func (j *judge) addf(check string, s Status, do, format string, args ...any) {
	j.add(check, s, fmt.Sprintf(format, args...), do)
}

// blind says that a check needs a command which is forbidden.
func (j *judge) blind(check, what, command string) {
	do := fmt.Sprintf("ACL SETUSER %s +%s, or run weir doctor as a user who may", userName(j.facts.User), command)
	if command == configGet {
		do = fmt.Sprintf("see the service's parameters for %s; on a server of your own ACL SETUSER %s +%s, "+
			"or run weir doctor as a user who may", what, userName(j.facts.User), command)
	}
	j.add(check, Unknown, fmt.Sprintf("%s cannot be read: no %s", what, commandText[command]), do)
}

// What blind speaks of, as ACL rules have them and as people do.
const (
	info      = "info"
	configGet = "config|get"
)

var commandText = map[string]string{info: "INFO", configGet: "CONFIG GET"}

// set says how to change a directive, now and for the next start.
func (j *judge) set(name, value string) string {
	if j.node.Config == nil {
		return fmt.Sprintf("set %s %s in redis.conf or in the service's parameters", name, value)
	}
	return fmt.Sprintf("CONFIG SET %s %s, and the same in redis.conf", name, value)
}

func userName(user string) string {
	if user == "" {
		return "default"
	}
	return user
}
