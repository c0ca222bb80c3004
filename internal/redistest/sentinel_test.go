package redistest

import (
	"fmt"
	"testing"
	"time"
)

func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := StartSentinel(t, 3, 1)
	t.Logf("sentinels know each other after %v", time.Since(began))
	if len(s.Addrs()) != 3 || len(s.Sentinels()) != 3 || len(s.Nodes()) != 2 || s.MasterName() != "weir" {
		t.Fatalf("sentinels %v, nodes %v", s.Addrs(), addrs(s.Nodes()))
	}
	old := s.Primary()
	if old != s.Nodes()[0] {
		t.Fatalf("primary is %s, want %s", old.Addr(), s.Nodes()[0].Addr())
	}
	old.MustDo("SET", "k", "v")
	mustAwait(t, "the write to be replicated", func() error { // a sentinel does not wait for it
		if got, err := s.Nodes()[1].Do("GET", "k"); got != "v" {
			return fmt.Errorf("replica has %v (%v)", got, err)
		}
		return nil
	})
	began = time.Now()
	s.Failover()
	t.Logf("failover took %v", time.Since(began))
	now := s.Primary()
	if now == old {
		t.Fatal("the primary is the same")
	}
	if got := now.MustDo("GET", "k"); got != "v" {
		t.Errorf("GET at the new primary = %v", got)
	}
	now.MustDo("SET", "k", "w")
}

func TestSentinelNoticesADeadPrimary(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t, 3, 1, WithTLS(), WithPassword("secret"))
	old := s.Primary()
	old.Stop()
	s.Sentinels()[2].Pause() // two of three are a majority
	s.AwaitFailover(old)
	if s.Primary() != s.Nodes()[1] {
		t.Fatalf("primary is %s", s.Primary().Addr())
	}
	s.Primary().MustDo("SET", "k", "v")
	old.Restart() // its configuration still says primary: it is told better
	s.AwaitFailover(old)
	if got := old.MustDo("GET", "k"); got != "v" {
		t.Errorf("GET at the old primary = %v", got)
	}
}
