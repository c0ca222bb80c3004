package redisstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestSentinel shares one set of servers between its subtests, which log in as
// the documented user.
func TestSentinel(t *testing.T) {
	t.Parallel()
	st := redistest.StartSentinel(t, 3, 2, redistest.WithACL(aclUser(aclCommands)))
	o := asACLUser(Options{Addrs: st.Addrs(), Mode: Sentinel, MasterName: st.MasterName()})
	s := open(t, o)
	m := still(1_000_000)
	admit(t, s, one("k", m))

	t.Run("an unknown name", func(t *testing.T) {
		o := o
		o.MasterName = "nobody"
		_, err := New(context.Background(), o)
		wantCode(t, err, weir.CodeRefused)
	})
	t.Run("a sentinel is down", func(t *testing.T) {
		st.Sentinels()[0].Stop()
		admit(t, open(t, o), one("k", m))
		st.Sentinels()[0].Restart()
	})
	t.Run("graceful failover under load", func(t *testing.T) {
		old := st.Primary()
		l := startLoad(s, 4, func(int, int) weir.Entry { return one("k", m) })
		l.progress(t, 100)
		st.Failover()
		l.progress(t, 100)
		// Sentinel promotes and demotes with no handover: a call that is under
		// way when its connection is cut may fail. Nothing else does.
		for _, err := range l.end() {
			wantCode(t, err, weir.CodeRefused)
		}
		if n := len(l.errs); n > 2*4 {
			t.Errorf("%d errors of 4 callers, want at most what was under way", n)
		}
		wantPrimary(t, st, s, old)
	})
	t.Run("the primary is killed", func(t *testing.T) {
		old := st.Primary()
		old.Stop()
		b := weir.Batch{Entries: []weir.Entry{one("k", m)}, Deadline: time.Now().Add(300 * time.Millisecond)}
		s.Decide(context.Background(), &b)
		wantCode(t, b.Entries[0].Err, weir.CodeRefused)
		admit(t, s, one("k", m)) // its deadline is longer than the failover
		st.AwaitFailover(old)
		wantPrimary(t, st, s, old)
	})
}

// wantPrimary fails the test unless the store decides at a primary that is not
// old.
func wantPrimary(t *testing.T, st *redistest.Sentinel, s *Store, old *redistest.Server) {
	t.Helper()
	primary := st.Primary()
	if primary == old {
		t.Fatal("no failover")
	}
	admit(t, s, one("whose", still(1_000_000)))
	if v := primary.MustDo("EXISTS", aclPrefix+"whose"); v != int64(1) {
		t.Error("the decision is not at the primary")
	}
	eventually(t, "the connection to the new primary", func() error {
		sh := s.topo.Load().shards[0]
		n, err := sh.acquire(context.Background())
		if err != nil {
			return err
		}
		defer n.release()
		if n.addr != primary.Addr() {
			return fmt.Errorf("connected to %s", n.addr)
		}
		return nil
	})
}
