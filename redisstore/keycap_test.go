package redisstore

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestKeyCapSteps(t *testing.T) {
	const goal = 500 * time.Microsecond
	type step struct {
		keys int
		took time.Duration
		want int // the cap afterwards
	}
	for _, tc := range []struct {
		name  string
		most  int
		steps []step
	}{
		{"starts at the most", 256, nil},
		{"a fast call below the cap says nothing", 256, []step{{100, 10 * time.Microsecond, 256}}},
		{"falls in proportion to the overrun", 256, []step{{256, 750 * time.Microsecond, 170}}},
		{"one slow call halves it at the most", 256, []step{{256, 50 * time.Millisecond, 128}}},
		{"of what was in the call", 256, []step{{64, 50 * time.Millisecond, 32}}},
		{"never below the least", 256, []step{{10, time.Second, leastKeys}, {9, time.Second, leastKeys}}},
		{"a slow call of few keys says nothing of keys", 256, []step{{8, time.Second, 256}}},
		{"rises by a sixteenth when a full call is fast", 256, []step{
			{256, 50 * time.Millisecond, 128}, {128, goal / 2, 136}, {136, goal / 2, 144},
		}},
		{"stays when a full call is close to the goal", 256, []step{
			{256, 50 * time.Millisecond, 128}, {128, goal * 9 / 10, 128},
		}},
		{"stays when the call was not full", 256, []step{
			{256, 50 * time.Millisecond, 128}, {127, goal / 10, 128},
		}},
		{"never above the most", 10, []step{{10, time.Second, 8}, {8, 1, 9}, {9, 1, 10}, {10, 1, 10}}},
		{"a call that was not measured says nothing", 10, []step{{10, time.Second, 8}, {8, 0, 8}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newKeyCap(tc.most, goal)
			if c.get() != tc.most {
				t.Errorf("starts at %d, want %d", c.get(), tc.most)
			}
			for i, st := range tc.steps {
				c.observe(st.keys, st.took)
				if got := c.get(); got != st.want {
					t.Fatalf("step %d: %d, want %d", i, got, st.want)
				}
			}
		})
	}
}

// A script whose time grows with its keys settles close below the goal.
func TestKeyCapSettlesBelowTheGoal(t *testing.T) {
	const goal, perKey = 500 * time.Microsecond, 5 * time.Microsecond
	c := newKeyCap(256, goal)
	slow := 0
	for i := range 2000 {
		keys := c.get()
		took := time.Duration(keys) * perKey
		c.observe(keys, took)
		if i > 20 && took > goal {
			slow++
		}
	}
	if c.get() < 70 || c.get() > 100 {
		t.Errorf("settled at %d keys, want about 75 to 100", c.get())
	}
	if slow > 20 { // 1%: the goal is a p99
		t.Errorf("%d of 2000 calls took longer than the goal", slow)
	}
}

// callLog collects what Hooks.StoreCall tells.
type callLog struct {
	sync.Mutex
	list []weir.StoreCall
}

func TestStoreCallIsReported(t *testing.T) {
	srv := redistest.Start(t)
	var calls callLog
	s := open(t, Options{
		Addrs: []string{srv.Addr()}, MaxKeys: 100,
		Hooks: weir.Hooks{StoreCall: func(c weir.StoreCall) {
			calls.Lock()
			calls.list = append(calls.list, c)
			calls.Unlock()
		}},
	})
	// Entries of as many charges as there may be: the last one taken into a
	// batch may go past the cap by all but one of its keys.
	m := still(10)
	b := weir.Batch{}
	for i := range 40 {
		e := weir.Entry{}
		for j := range weir.MaxCharges {
			e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint(i, "/", j), Meter: m, Cost: 1})
		}
		b.Entries = append(b.Entries, e)
	}
	s.Decide(context.Background(), &b)
	if got := countAdmitted(t, b.Entries); got != len(b.Entries) {
		t.Fatalf("%d of %d admitted", got, len(b.Entries))
	}
	eventually(t, "the report", func() error { // which comes after the answers
		calls.Lock()
		defer calls.Unlock()
		entries := 0
		for _, c := range calls.list {
			entries += c.Entries
		}
		if entries != len(b.Entries) {
			return fmt.Errorf("%d entries reported, want %d", entries, len(b.Entries))
		}
		return nil
	})
	most, script := 0, time.Duration(0)
	for _, c := range calls.list {
		most, script = max(most, c.Keys), script+c.Script
		if c.Shard != srv.Addr() || c.Err != nil || c.Took <= 0 || c.Script > c.Took || c.Groups > c.Entries {
			t.Errorf("reported %+v", c)
		}
	}
	if most > 100+weir.MaxCharges-1 || most < weir.MaxCharges {
		t.Errorf("the largest call had %d keys, want at most %d", most, 100+weir.MaxCharges-1)
	}
	if script <= 0 {
		t.Error("no script time was reported")
	}
}

func TestStoreCallReportsFailures(t *testing.T) {
	srv := redistest.Start(t)
	failed := make(chan weir.StoreCall, 100)
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: weir.Hooks{StoreCall: func(c weir.StoreCall) {
		if c.Err != nil {
			failed <- c
		}
	}}})
	admit(t, s, one("k", still(10)))
	srv.ConfigSet("maxmemory", "1")
	decide(s, one("k", still(10)))
	c := <-failed
	wantCode(t, c.Err, weir.CodeOOM)
	if c.Entries != 1 || c.Script != 0 {
		t.Errorf("reported %+v", c)
	}
}

// TestManyIDsOnOneKey: each request id is a key of its own, also where all ask for
// one counter.
func TestManyIDsOnOneKey(t *testing.T) {
	srv := redistest.Start(t)
	var mu sync.Mutex
	most := 0
	s := open(t, Options{Addrs: []string{srv.Addr()}, Breaker: patient, Hooks: weir.Hooks{StoreCall: func(c weir.StoreCall) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, c.Groups)
	}}})
	m := still(1_000_000)
	var b weir.Batch
	for i := range 8192 {
		e := one("k", m)
		e.ID = fmt.Sprint("r", i)
		b.Entries = append(b.Entries, e)
	}
	together(t, s, srv, &b)
	for i := range b.Entries {
		if err := b.Entries[i].Err; err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
	if got := used(t, s, "k", m); got != 8192 {
		t.Errorf("%d units are in use", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if s.opts.MaxKeys < most {
		t.Errorf("%d requests with ids were in one call, of %d keys at most", most, s.opts.MaxKeys)
	}
}
