package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judgeCluster judges a cluster as a whole.
func judgeCluster(f *Facts) []Finding {
	c := f.Cluster
	if c == nil {
		return nil
	}
	var out []Finding
	add := func(node string, s Status, seen, do string) {
		out = append(out, Finding{CheckCluster, node, s, seen, do})
	}
	if c.Covered < Slots {
		add("", Fail, fmt.Sprintf("%d of %d slots are served", c.Covered, Slots), "redis-cli --cluster fix HOST:PORT, or bring the lost primary back")
	}
	if c.State == "fail" {
		add("", Fail, "cluster_state is fail: nothing is decided", "CLUSTER NODES tells which nodes failed")
	}
	if len(c.Primaries) < 3 {
		add("", Warn, fmt.Sprintf("%d primaries: when one is lost the others are no majority, and no replica is promoted", len(c.Primaries)),
			"spread the slots over three primaries or more")
	}
	for _, p := range c.Primaries {
		if len(p.Replicas) == 0 {
			add(p.Addr, Warn, "has no replica: when it is lost, so are its slots", "redis-cli --cluster add-node NEW "+p.Addr+" --cluster-slave")
		}
	}
	if len(out) == 0 {
		add("", OK, fmt.Sprintf("%d slots are served by %d primaries, each with a replica", c.Covered, len(c.Primaries)), "")
	}
	return out
}

// How long a primary may be silent before it counts as lost: see docs/redis.md.
// Its slots are not served for this long and about two seconds more. Below the
// lower bound a busy machine loses primaries that live.
const (
	nodeTimeoutMost  = 5 * time.Second
	nodeTimeoutLeast = time.Second
)

// clusterSettings judges what a cluster node does when another is lost.
func (j *judge) clusterSettings() {
	if j.facts.Mode != Cluster || j.node.Kind == "standalone" {
		return
	}
	switch v, ok := j.node.setting("cluster-require-full-coverage"); {
	case !ok:
		j.blind(CheckCoverage, "cluster-require-full-coverage", configGet)
	case v == "no":
		j.add(CheckCoverage, OK, "cluster-require-full-coverage is no", "")
	default:
		j.add(CheckCoverage, Warn, "cluster-require-full-coverage is "+v+": with one primary lost every node refuses every slot until a replica is promoted",
			j.set("cluster-require-full-coverage", "no"))
	}
	ms, ok := j.node.number("cluster-node-timeout")
	if !ok {
		j.blind(CheckNodeTimeout, "cluster-node-timeout", configGet)
		return
	}
	timeout := time.Duration(ms) * time.Millisecond
	seen := fmt.Sprintf("a lost primary is replaced after %s and about 2s", timeout)
	switch {
	case timeout > nodeTimeoutMost:
		j.add(CheckNodeTimeout, Warn, seen, j.set("cluster-node-timeout", "3000"))
	case timeout < nodeTimeoutLeast:
		j.add(CheckNodeTimeout, Warn, seen+": a pause of a busy machine is taken for a loss", j.set("cluster-node-timeout", "3000"))
	default:
		j.add(CheckNodeTimeout, OK, seen, "")
	}
}

// judgeSentinels judges what the sentinels say, and whether they can act.
func judgeSentinels(f *Facts) []Finding {
	var out []Finding
	var named []string // primaries
	for i := range f.Sentinels {
		s := &f.Sentinels[i]
		if s.Err == nil && !slices.Contains(named, s.Primary) {
			named = append(named, s.Primary)
		}
		out = append(out, judgeSentinel(f, s))
	}
	if len(named) > 1 {
		slices.Sort(named)
		out = append(out, Finding{
			CheckSentinel, "", Fail, "the sentinels do not agree on the primary: " + strings.Join(named, ", "),
			"run weir doctor again: a failover may be under way; if it stays, SENTINEL RESET " + f.Master + " on each, one after the other",
		})
	}
	return out
}

func judgeSentinel(f *Facts, s *SentinelView) Finding {
	found := func(status Status, seen, do string) Finding { return Finding{CheckSentinel, s.Addr, status, seen, do} }
	if s.Err != nil {
		status := Warn // the others suffice, or f.Err says that they do not
		out := unreachable(s.Addr, s.Err, status)
		out.Check = CheckSentinel
		return out
	}
	if s.Asked && s.Quorum != nil {
		bare := *s.Quorum
		bare.Hint = ""
		return found(Fail, "no failover is possible: "+bare.Error(), "bring the other sentinels back; a majority of all must run")
	}
	others, err := strconv.Atoi(s.Details["num-other-sentinels"])
	seen := f.Master + " is " + s.Primary
	switch {
	case err != nil:
		return found(Unknown, seen+"; how many sentinels there are cannot be read",
			"on the sentinel: ACL SETUSER USER +sentinel|master +sentinel|ckquorum, or run weir doctor as a user who may")
	case others+1 < 3:
		return found(Warn, fmt.Sprintf("%s, watched by %d: the loss of one leaves no majority", seen, others+1), "run three sentinels or more, on machines of their own")
	case s.Details["num-slaves"] == "0":
		return found(Warn, seen+", and has no replica: there is nobody to promote", "add a replica: REPLICAOF on another server")
	}
	return found(OK, fmt.Sprintf("%s, watched by %d, quorum %s, replicas %s", seen, others+1, s.Details["quorum"], s.Details["num-slaves"]), "")
}
