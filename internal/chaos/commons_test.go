//go:build !race

package chaos

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// commons is the 3 + 3 cluster of rows whose faults heal: to start one takes
// longer than what most rows do with it. A row that fails, or spoils it, takes it
// away, and the next one that needs it has another.
type commons struct {
	root    testing.TB // of all rows: the nodes' files are to outlive the row that started them
	host    *attempt   // owns the nodes; what fails of theirs is the row's that uses them
	cluster *redistest.Cluster
}

// shared is of all rows; they run one after the other.
var shared commons

// take returns the cluster, whole. With spoils it is not there for the next row.
func (c *commons) take(t testing.TB, spoils bool) *redistest.Cluster {
	t.Helper()
	if c.cluster == nil {
		c.host = &attempt{TB: c.root}
	}
	host := c.host
	t.Cleanup(func() {
		if host.Failed() {
			t.Errorf("cluster: %s", host.why())
		}
		if spoils || t.Failed() {
			c.end()
			if t.Failed() {
				host.tell(t)
			}
		}
	})
	if c.cluster == nil {
		c.cluster = redistest.StartCluster(host, 3, 3, withoutFullCoverage)
	}
	await(t, "the shared cluster to be whole", c.whole)
	return c.cluster
}

// whole returns nil when three primaries have a replica each, in sync.
func (c *commons) whole() error {
	primaries := c.cluster.Primaries()
	if len(primaries) != 3 {
		return fmt.Errorf("%d primaries", len(primaries))
	}
	for _, p := range primaries {
		replicas := c.cluster.ReplicasOf(p)
		if len(replicas) != 1 {
			return fmt.Errorf("%d replicas of %s", len(replicas), p.Addr())
		}
		info, err := replicas[0].Do("INFO", "replication")
		if err != nil {
			return err
		}
		if text, _ := info.(string); !strings.Contains(text, "master_link_status:up") {
			return errors.New("a replica is not in sync")
		}
	}
	return nil
}

// end stops the nodes. It may be called more than once.
func (c *commons) end() {
	if c.host != nil {
		c.host.cleanUp()
	}
	c.host, c.cluster = nil, nil
}
