package doctor

import (
	"strings"
	"testing"
	"time"
)

// FuzzJudge: whatever a server says, each finding says what was seen and, if
// not all is well, what to do.
func FuzzJudge(f *testing.F) {
	f.Add("maxmemory:1\nused_memory:9223372036854775807\nmaxclients:9223372036854775807\nconnected_clients:9223372036854775807", "7.0", uint8(0))
	f.Add("appendonly:yes\nmaxmemory_policy:\nlatest_fork_usec:9223372036854775807\nmin-replicas-to-write:1\nmin_slaves_good_slaves:0", "x", uint8(1))
	f.Add("cluster-node-timeout:-9223372036854775808\ncluster-require-full-coverage:", "", uint8(2))
	f.Fuzz(func(t *testing.T, text, version string, mode uint8) {
		said := map[string]string{}
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				said[name] = value
			}
		}
		n := Node{Addr: "a", Version: version, Role: said["role"], Kind: said["kind"], Info: said, Config: said}
		for i := range 3 {
			switch i {
			case 1:
				n.Config = nil
			case 2:
				n.Info = nil
			}
			facts := Facts{
				Mode: Mode(mode % 3), Deadline: 10 * time.Millisecond, Nodes: []Node{n},
				Sentinels: []SentinelView{{Addr: "s", Details: said}},
			}
			for _, got := range Judge(&facts) {
				if got.Seen == "" || (got.Status == OK) != (got.Do == "") || rank(got.Status) < 0 {
					t.Errorf("%+v", got)
				}
			}
		}
	})
}
