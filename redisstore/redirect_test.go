package redisstore

import (
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// A redirect leads to a shard by the name that the topology gave it.
func TestRedirect(t *testing.T) {
	for _, tc := range []struct {
		text, asked string
		addr        string // "" for none
		asking      bool
	}{
		{"MOVED 3999 127.0.0.1:6381", "127.0.0.1:6380", "127.0.0.1:6381", false},
		{"ASK 3999 127.0.0.1:6381", "127.0.0.1:6380", "127.0.0.1:6381", true},
		{"ASK 3999 redis-1.example.org:6381", "127.0.0.1:6380", "redis-1.example.org:6381", true},
		{"ASK 3999 ::1:6381", "[::1]:6380", "[::1]:6381", true},
		{"MOVED 3999 fd00::2:6381", "[fd00::1]:6380", "[fd00::2]:6381", false},
		{"ASK 3999 :6381", "127.0.0.1:6380", "127.0.0.1:6381", true},
		{"ASK 3999 :6381", "[::1]:6380", "[::1]:6381", true},
		{"MOVED 3999 ?:6381", "127.0.0.1:6380", "127.0.0.1:6381", false},
		{"MOVED 3999 6381", "127.0.0.1:6380", "", false},
		{"MOVED 3999", "127.0.0.1:6380", "", false},
		{"TRYAGAIN 3999 127.0.0.1:6381", "127.0.0.1:6380", "", false},
	} {
		addr, asking, ok := redirect(replyError(tc.text), tc.asked)
		if addr != tc.addr || asking != tc.asking || ok != (tc.addr != "") {
			t.Errorf("%q from %s: to %q, asking %v, ok %v; want %q, %v", tc.text, tc.asked, addr, asking, ok, tc.addr, tc.asking)
		}
	}
}

// Nodes that do not say their hosts are where the one is that was asked.
func TestClusterAskWithoutHost(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0, redistest.WithConfig("cluster-preferred-endpoint-type", "unknown-endpoint"))
	testAskWindow(t, c)
	c.wantNoLoss(t)
}
