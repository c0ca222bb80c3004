package measure

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/internal/redistest"
)

// shortPlan measures by calls, not by time: each phase lasts until the fakes
// have been called a hundred times more.
func shortPlan(sc Scenario, fakes ...*fake) RedisPlan {
	calls := func() (n int) {
		for _, f := range fakes {
			n += f.called()
		}
		return n
	}
	return RedisPlan{
		Scenarios: []Scenario{sc}, Rounds: 2, Log: quiet,
		wait: func(time.Duration) {
			for until := calls() + 100; calls() < until; {
				runtime.Gosched()
			}
		},
	}
}

func TestRedisMeasuresEveryRoundOfEveryPeer(t *testing.T) {
	srv := redistest.Start(t)
	ok, failing := &fake{}, &fake{failAt: 2}
	tables, err := Redis(t.Context(), shortPlan(Scenario{Name: "s", Keys: 40, Callers: 8}, ok, failing), srv,
		[]peer.Redis{ok.redis("ok"), failing.redis("failing")})
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 1 || len(tables[0].Rows) != 2 {
		t.Fatalf("tables %+v, want one of two rows", tables)
	}
	for _, r := range tables[0].Rows {
		if len(r.Rate) != 2 || len(r.P50) != 2 || len(r.P99) != 2 || len(r.Both) != 2 || len(r.Failed) != 2 {
			t.Errorf("row %+v, want 2 rounds", r)
		}
		for i := range r.Rate {
			if r.Rate[i] <= 0 || r.P99[i] < r.P50[i] {
				t.Errorf("round %d of %s: %v/s, p50 %v, p99 %v", i, r.Name, r.Rate[i], r.P50[i], r.P99[i])
			}
			if want := r.Name == "failing"; (r.Failed[i] > 0) != want {
				t.Errorf("round %d of %s: share of failures %v", i, r.Name, r.Failed[i])
			}
		}
	}
	if len(ok.asked) != 40 || !ok.closed {
		t.Errorf("asked for %d keys (closed: %v), want all 40", len(ok.asked), ok.closed)
	}
}

func TestRedisNeedsAnswers(t *testing.T) {
	srv := redistest.Start(t)
	down := &fake{failAt: 1}
	_, err := Redis(t.Context(), shortPlan(Scenario{Name: "s", Keys: 1, Callers: 2}, down), srv, []peer.Redis{down.redis("down")})
	if !errors.Is(err, errFake) {
		t.Errorf("error %v, want %v", err, errFake)
	}
}

// Of a load that is to be denied the denials are the decisions, and one that is
// allowed is an error.
func TestRedisDenied(t *testing.T) {
	srv := redistest.Start(t)
	for _, c := range []struct {
		allows int // so many calls
		want   error
	}{{1, nil}, {1 << 40, errAllowed}} {
		f := &fake{denyAfter: c.allows}
		tables, err := Redis(t.Context(), shortPlan(Scenario{Name: "s", Keys: 1, Callers: 4, Denied: true}, f), srv, []peer.Redis{f.redis("f")})
		if !errors.Is(err, c.want) {
			t.Errorf("allows %d: %v, want %v", c.allows, err, c.want)
		}
		if err != nil {
			continue
		}
		if r := tables[0].Rows[0]; r.Rate[0] <= 0 || r.Calls[0] != 0 {
			t.Errorf("%+v, want a rate and no call", r)
		}
	}
}

// Scripts are counted, what else the server is asked is not.
func TestSpanCalls(t *testing.T) {
	srv := redistest.Start(t)
	got := during(srv, func() {
		for range 3 {
			srv.MustDo("EVAL", "return redis.call('GET', 'k')", "1", "k")
		}
		srv.MustDo("PING")
	})
	if got.calls != 3 {
		t.Errorf("%d calls, want 3", got.calls)
	}
}

func TestRedisVersion(t *testing.T) {
	v, err := RedisVersion(redistest.Start(t))
	if err != nil || v == "" || v == "unknown" {
		t.Errorf("version %q, error %v", v, err)
	}
}

// Idle time is taken off in proportion.
func TestSpanLess(t *testing.T) {
	s := span{wall: 10 * time.Second, client: 5 * time.Second, server: 4 * time.Second}
	idle := span{wall: time.Second, client: 100 * time.Millisecond, server: 10 * time.Millisecond}
	want := span{wall: 10 * time.Second, client: 4 * time.Second, server: 3900 * time.Millisecond}
	if got := s.less(idle); got != want {
		t.Errorf("less = %+v, want %+v", got, want)
	}
	if got := s.less(span{}); got != s {
		t.Errorf("less nothing = %+v, want %+v", got, s)
	}
}

func TestKeySizes(t *testing.T) {
	sizes, err := KeySizes(t.Context(), redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, k := range sizes {
		seen[k.Algorithm] = true
		if k.One <= int64(len(k.Key)) || k.Full <= int64(len(k.Key)) || len(k.Key) <= KeyBytes {
			t.Errorf("sizes of %s: %+v", k.Limit, k)
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d algorithms are measured, want all 7: %v", len(seen), seen)
	}
}
