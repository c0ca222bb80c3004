package redisstore

import (
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/redistest"
)

// docs/redis.md carries these figures.
func TestMemoryPerKey(t *testing.T) {
	srv := redistest.Start(t)
	// A third of a second between two hits, so that nothing is whole.
	now := weir.MicrosAt(time.Now())
	s := open(t, Options{Addrs: []string{srv.Addr()}, clock: func() weir.Micros {
		now += 333_333
		return now
	}})
	identity := strings.Repeat("0123456789abcdef", 2)
	for _, tc := range []struct {
		l    weir.Limit
		hits int // in batches of their own
		most int64
	}{
		{weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200}, 3, 128},
		{weir.Limit{Algorithm: weir.GCRA, Count: 7, Window: 3 * weir.Second, Burst: 200}, 3, 144}, // with a fraction
		{weir.Limit{Algorithm: weir.LeakyBucket, Count: 100, Window: weir.Second}, 3, 128},
		{weir.Limit{Algorithm: weir.FixedWindow, Count: 1000, Window: weir.Year}, 3, 128},
		{weir.Limit{Algorithm: weir.SlidingWindow, Count: 10_000, Window: weir.Hour}, 1, 128},
		{weir.Limit{Algorithm: weir.SlidingWindow, Count: 16, Window: weir.Hour}, 16, 320},
		{weir.Limit{Algorithm: weir.SlidingLog, Count: 100, Window: weir.Hour}, 100, 1400},
		{weir.Limit{Algorithm: weir.Concurrency, Count: 20, Window: weir.Hour}, 20, 800},
	} {
		m := weir.MustMeter(tc.l)
		k := string(key.Append(nil, &key.Key{
			Partition: identity, Domain: "api", Rule: "login", Algorithm: tc.l.Algorithm, Window: tc.l.Window,
		}))
		srv.MustDo("FLUSHALL")
		for i := range tc.hits {
			e := one(k, m)
			if m.Machine == weir.Slots {
				e.ID = strings.Repeat("r", i+1)
			}
			admit(t, s, e)
		}
		bytes := srv.MustDo("MEMORY", "USAGE", k).(int64)
		t.Logf("%-28s %3d hits: %4d bytes, key %d, value %d", tc.l, tc.hits, bytes, len(k), srv.MustDo("STRLEN", k))
		if bytes > tc.most {
			t.Errorf("%s: %d bytes after %d hits, want at most %d", tc.l, bytes, tc.hits, tc.most)
		}
	}

	srv.MustDo("FLUSHALL")
	admit(t, s, withID(one("k", still(10)), "r"))
	admit(t, s, withID(one("k", still(10)), "r2")) // finds a state
	for _, k := range keysOf(srv) {
		if strings.HasPrefix(k, "#") {
			bytes := srv.MustDo("MEMORY", "USAGE", k).(int64)
			t.Logf("a remembered request: %d bytes, key %d, value %d", bytes, len(k), srv.MustDo("STRLEN", k))
			if bytes > 192 {
				t.Errorf("a remembered request takes %d bytes, want at most 192", bytes)
			}
		}
	}
}
