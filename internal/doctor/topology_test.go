package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestJudgeArrangement(t *testing.T) {
	replicated := []Primary{{"a", []string{"d"}}, {"b", []string{"e"}}, {"c", []string{"f"}}}
	away := &weir.Error{Code: weir.CodeRefused, Message: "refused", Hint: "start it"}
	details := func(others, replicas string) map[string]string {
		return map[string]string{"num-other-sentinels": others, "num-slaves": replicas, "quorum": "2"}
	}
	clocks := func(ahead ...time.Duration) Facts {
		f := Facts{Deadline: time.Second}
		for i, d := range ahead {
			f.Nodes = append(f.Nodes, Node{Addr: string(rune('a' + i)), Version: "7.0", Role: "master", Clock: &Offset{d, time.Millisecond}})
		}
		return f
	}
	for _, tc := range []struct {
		name   string
		facts  Facts
		check  string
		node   string
		status Status
		seen   string
	}{
		{"good", Facts{Cluster: &ClusterView{"ok", Slots, replicated}}, CheckCluster, "", OK, "3 primaries"},
		{"not told the state", Facts{Cluster: &ClusterView{"", Slots, replicated}}, CheckCluster, "", OK, "3 primaries"},
		{"a slot is nobody's", Facts{Cluster: &ClusterView{"ok", Slots - 1, replicated}}, CheckCluster, "", Fail, "16383 of 16384"},
		{"down", Facts{Cluster: &ClusterView{"fail", Slots, replicated}}, CheckCluster, "", Fail, "cluster_state"},
		{"no majority", Facts{Cluster: &ClusterView{"ok", Slots, replicated[:2]}}, CheckCluster, "", Warn, "2 primaries"},
		{"nobody to take over", Facts{Cluster: &ClusterView{"ok", Slots, append(replicated[:2:2], Primary{Addr: "c"})}}, CheckCluster, "c", Warn, "no replica"},

		{"watched", Facts{Master: "m", Sentinels: []SentinelView{{Addr: "s", Primary: "p", Details: details("2", "1"), Asked: true}}}, CheckSentinel, "s", OK, "m is p, watched by 3, quorum 2, replicas 1"},
		{"watched by two", Facts{Sentinels: []SentinelView{{Addr: "s", Details: details("1", "1")}}}, CheckSentinel, "s", Warn, "watched by 2"},
		{"nobody to promote", Facts{Sentinels: []SentinelView{{Addr: "s", Details: details("2", "0")}}}, CheckSentinel, "s", Warn, "no replica"},
		{"not told", Facts{Sentinels: []SentinelView{{Addr: "s"}}}, CheckSentinel, "s", Unknown, "cannot be read"},
		{"one is away", Facts{Sentinels: []SentinelView{{Addr: "s", Err: away}}}, CheckSentinel, "s", Warn, "refused"},
		{"no quorum", Facts{Sentinels: []SentinelView{{Addr: "s", Details: details("2", "1"), Asked: true, Quorum: &weir.Error{Message: "NOQUORUM"}}}}, CheckSentinel, "s", Fail, "NOQUORUM"},
		{"two primaries", Facts{Sentinels: []SentinelView{{Addr: "s", Primary: "q"}, {Addr: "t", Primary: "p"}}}, CheckSentinel, "", Fail, "p, q"},
		{"all are away", Facts{Err: away, Sentinels: []SentinelView{{Addr: "s", Err: away}}}, CheckReachable, "", Fail, "refused"},

		{"clocks as one", clocks(0, 102*time.Millisecond), CheckClock, "", OK, "2 nodes"},
		{"clocks apart", clocks(0, -60*time.Millisecond, 50*time.Millisecond), CheckClock, "", Warn, "c is 110ms ahead of that of b"},
		{"clocks far apart", clocks(0, 1100*time.Millisecond), CheckClock, "", Fail, "b is 1.1s"},
	} {
		found := Judge(&tc.facts)
		ok := false
		for _, got := range found {
			if got.Status != OK && got.Do == "" {
				t.Errorf("%s: %+v does not say what to do", tc.name, got)
			}
			ok = ok || got.Check == tc.check && got.Node == tc.node && got.Status == tc.status && strings.Contains(got.Seen, tc.seen)
		}
		if !ok {
			t.Errorf("%s: no %s %s at %q with %q in %+v", tc.name, tc.check, tc.status, tc.node, tc.seen, found)
		}
	}
}
