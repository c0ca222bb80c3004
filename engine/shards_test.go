package engine_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// A window of a year does not end while a test runs.
const whales = `
policies:
  - {id: whales, by: tenant, limits: [1003/365d fixed_window, 5000/365d], counter_shards: 16, on_failure: closed}
`

// TestShardsAdmitTheLimit: all parts together admit the limit, no more and no
// less; they live in slots of their own, on several nodes; usage is their sum, and
// a reset forgets them all.
func TestShardsAdmitTheLimit(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		s := memstore.New()
		defer func() { _ = s.Close() }()
		shardsAdmitTheLimit(t, s)
	})
	t.Run("cluster", func(t *testing.T) {
		c := redistest.StartCluster(t, 3, 0)
		s, err := redisstore.New(t.Context(), redisstore.Options{Addrs: c.Addrs()[:1], Mode: redisstore.Cluster})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		for _, u := range shardsAdmitTheLimit(t, s) {
			slots, nodes := map[uint16]bool{}, map[string]bool{}
			for _, part := range u.Parts {
				slots[key.Slot(part.Key)] = true
				nodes[c.NodeForSlot(int(key.Slot(part.Key))).Addr()] = true
			}
			if len(slots) != 16 || len(nodes) != 3 {
				t.Errorf("%s: %d slots on %d nodes", u.Limit, len(slots), len(nodes))
			}
		}
		for _, node := range c.Primaries() {
			if n := node.CommandStats()["evalsha"]; n == 0 {
				t.Errorf("node %s was asked nothing", node.Addr())
			}
		}
	})
}

func shardsAdmitTheLimit(t *testing.T, store weir.Store) []engine.Usage {
	t.Helper()
	e := enginetest.New(t, whales, engine.Options{Store: store})
	var admitted atomic.Int64
	var wg sync.WaitGroup
	const callers, each = 16, 150 // 2400 of 1003
	for caller := range callers {
		wg.Go(func() {
			for i := range each {
				r := ask("tenant", "acme")
				if caller%2 == 0 {
					r.ID = fmt.Sprintf("%d-%d", caller, i)
				}
				var d weir.Decision
				if err := e.Check(t.Context(), r, &d); err != nil || d.Source != weir.SourceStore {
					t.Errorf("%+v, %v", d, err)
					return
				}
				if d.Allowed() {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 1003 {
		t.Errorf("%d of 1003 were admitted", admitted.Load())
	}
	used, _, err := e.Usage(t.Context(), ask("tenant", "acme"))
	if err != nil || len(used) != 2 || used[0].Outcome.Before.Used != 1003 || used[0].Outcome.Remaining != 0 || used[1].Outcome.Before.Used != 1003 || used[1].Outcome.Remaining != 3997 {
		t.Fatalf("usage: %+v, %v", used, err)
	}
	if used[0].Limit.String() != "1003/365d fixed_window" || len(used[0].Parts) != 16 {
		t.Errorf("%s in %d parts", used[0].Limit, len(used[0].Parts))
	}
	if _, _, err := e.Reset(t.Context(), ask("tenant", "acme")); err != nil {
		t.Fatal(err)
	}
	after, _, err := e.Usage(t.Context(), ask("tenant", "acme"))
	if err != nil || after[0].Outcome.Before.Used != 0 || after[0].Outcome.Remaining != 1003 || after[1].Outcome.Remaining != 5000 {
		t.Errorf("after the reset: %+v, %v", after, err)
	}
	return used
}

// TestShardsDescribeTheWhole: a decision speaks of the limit as written, and
// estimates what is left of it.
func TestShardsDescribeTheWhole(t *testing.T) {
	e := enginetest.New(t, `
policies:
  - {id: whales, by: tenant, limits: 101/365d, counter_shards: 4, on_failure: closed}
  - {id: plain, by: tenant, limits: 60/365d, on_failure: closed}
`, engine.Options{})
	d := check(t, e, ask("tenant", "a"))
	if d.Rule != "plain" || d.Remaining != 59 {
		t.Errorf("59 are less than about 100, and bind: %+v", d)
	}
	split := d.Charges[0]
	if split.Limit.String() != "101/365d" || split.Outcome.Granted != 1 || split.Outcome.Remaining < 96 || split.Outcome.Remaining > 100 || split.Outcome.Before.Used != 0 {
		t.Errorf("the split charge: %+v", split)
	}
	twice := ask("tenant", "c")
	twice.Descriptors = append(twice.Descriptors, twice.Descriptors[0])
	if d := check(t, e, twice); d.Charges[0].Outcome.Granted != 2 || d.Charges[0].Outcome.Remaining > 96 || d.Charges[0].Outcome != d.Charges[2].Outcome {
		t.Errorf("two descriptors in one counter: %+v", d.Charges)
	}
	big := ask("tenant", "b")
	big.Cost = 27 // above a part's 26
	if d := check(t, e, big); d.Allowed() || d.Reason != weir.ReasonTooCostly || d.Rule != "whales" || d.Limit.Count != 101 {
		t.Errorf("above a part: %+v", d)
	}
}

// TestShardsReplayAndRefund: a request is known again by its id, whatever its
// sub-counter.
func TestShardsReplayAndRefund(t *testing.T) {
	e := enginetest.New(t, whales, engine.Options{})
	for i := range 40 {
		r := ask("tenant", "a")
		r.ID = fmt.Sprint(i)
		if d := check(t, e, r); !d.Allowed() || d.Replayed {
			t.Fatalf("first: %+v", d)
		}
		if d := check(t, e, r); !d.Allowed() || !d.Replayed {
			t.Fatalf("again: %+v", d)
		}
		back := ask("tenant", "a")
		back.ID, back.Descriptors[0].Refund = r.ID, true
		if d := check(t, e, back); d.Charges[0].Outcome.Granted != 1 {
			t.Fatalf("refund: %+v", d)
		}
	}
}
