package doctor

import (
	"strconv"
	"time"

	"github.com/weirlimit/weir"
)

// Mode is how the servers are said to be arranged.
type Mode uint8

// The modes.
const (
	Single Mode = iota
	Sentinel
	Cluster
)

// Facts is what was seen.
type Facts struct {
	Mode     Mode
	User     string        // who was logged in, "" for the default user
	Prefix   string        // of every key
	Deadline time.Duration // that a decision has

	Err       *weir.Error // why it is not known which nodes there are, or nil
	Nodes     []Node
	Cluster   *ClusterView // with Mode Cluster, as one node sees it
	Sentinels []SentinelView
	Master    string // what sentinels call the primary
}

// Node is a server that holds data.
type Node struct {
	Addr    string
	Replica bool        // what those who know the arrangement call it
	Err     *weir.Error // why nothing else is known, or nil

	Server  string // "redis", "valkey"; every user may know
	Version string
	Kind    string // standalone, cluster or sentinel
	Role    string // master, slave or sentinel; "" when it may not be asked

	Info   map[string]string // nil where INFO is forbidden
	Config map[string]string // nil where CONFIG GET is forbidden, as on managed Redis

	Rounds  []time.Duration // round trips of a cheap command, sorted
	Scripts []time.Duration // the same of a script, sorted
	Clock   *Offset
	Tried   []Try
	Slow    *Slow   // nil where SLOWLOG is forbidden
	Spikes  []Spike // of Redis's latency monitor, if it is on
}

// Offset is how far a server's clock is ahead of that of this machine, give or
// take Within: half of a round trip.
type Offset struct{ Ahead, Within time.Duration }

// Try is a command that Weir needs and what became of it.
type Try struct {
	Command string // as an ACL rule names it: script|load
	Err     *weir.Error
}

// Slow is what the slow log says.
type Slow struct {
	Entries int
	Worst   time.Duration
	Command string // of the worst, without its arguments: those may be secret
}

// Spike is the worst delay that the latency monitor saw of one kind.
type Spike struct {
	Event string
	Worst time.Duration
}

// ClusterView is a cluster as one of its nodes describes it.
type ClusterView struct {
	State     string // "ok" or "fail", "" where CLUSTER INFO is forbidden
	Covered   int    // slots that somebody serves, of Slots
	Primaries []Primary
}

// Slots is how many a cluster has.
const Slots = 16384

// Primary is a node that serves slots, and those who could take over.
type Primary struct {
	Addr     string
	Replicas []string
}

// SentinelView is what one sentinel says.
type SentinelView struct {
	Addr    string
	Err     *weir.Error // it cannot be asked, or does not know the primary
	Primary string      // host:port

	Details map[string]string // SENTINEL MASTER, nil where forbidden
	Quorum  *weir.Error       // why SENTINEL CKQUORUM says no, or nil
	Asked   bool              // whether it could be asked for the quorum
}

// setting is the value of a directive of redis.conf, from wherever it can be
// read. Managed services forbid CONFIG and leave INFO.
func (n *Node) setting(name string) (string, bool) {
	if v, ok := n.Config[name]; ok {
		return v, true
	}
	field, ok := inInfo[name]
	if !ok {
		return "", false
	}
	v, ok := n.Info[field]
	switch {
	case !ok:
		return "", false
	case v == "1" && yesNo[name]:
		return "yes", true
	case v == "0" && yesNo[name]:
		return "no", true
	}
	return v, true
}

// inInfo is where INFO has a setting too. replica-read-only is there on
// replicas only.
var inInfo = map[string]string{
	"maxmemory":         "maxmemory",
	"maxmemory-policy":  "maxmemory_policy",
	"maxclients":        "maxclients",
	"appendonly":        "aof_enabled",
	"replica-read-only": "slave_read_only",
}

var yesNo = map[string]bool{"appendonly": true, "replica-read-only": true}

// number is a setting that is a number.
func (n *Node) number(name string) (int64, bool) {
	text, ok := n.setting(name)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil
}

// info is a number of INFO.
func (n *Node) info(field string) (int64, bool) {
	text, ok := n.Info[field]
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil
}
