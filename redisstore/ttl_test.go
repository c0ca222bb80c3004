package redisstore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// everyAlgorithm has one limit of each, and some that count in fractions of a
// microsecond or for a long time.
var everyAlgorithm = []weir.Limit{
	{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200},
	{Algorithm: weir.GCRA, Count: 7, Window: weir.Second, Burst: 1000},
	{Algorithm: weir.GCRA, Count: 10, Window: weir.Year},
	{Algorithm: weir.TokenBucket, Count: 30, Window: weir.Minute, Burst: 50},
	{Algorithm: weir.LeakyBucket, Count: 20, Window: weir.Second},
	{Algorithm: weir.FixedWindow, Count: 100, Window: weir.Second},
	{Algorithm: weir.FixedWindow, Count: 100, Window: weir.Day},
	{Algorithm: weir.SlidingWindow, Count: 10, Window: 30 * weir.Second},
	{Algorithm: weir.SlidingWindow, Count: 3000, Window: weir.Minute},
	{Algorithm: weir.SlidingLog, Count: 50, Window: weir.Minute},
	{Algorithm: weir.Concurrency, Count: 20, Window: 30 * weir.Second},
}

// checkTTL fails the test unless key is gone, or has a TTL that does not end
// before its state does. It returns the instant at which it expires.
func checkTTL(t *testing.T, srv *redistest.Server, key string, m *weir.Meter) weir.Micros {
	t.Helper()
	at := srv.MustDo("PEXPIRETIME", key).(int64) // ms
	if at == -2 {
		return 0
	}
	if at == -1 {
		t.Fatalf("%q has no TTL", key)
	}
	st := state(t, srv, key, m)
	expires := weir.Micros(at) * weir.Millisecond
	if end := st.Expiry(m); expires < end {
		t.Fatalf("%q expires %d us before its state ends", key, end-expires)
	}
	if most := st.Expiry(m) + 2*m.Grid; expires > most {
		t.Fatalf("%q expires %d us after its state ends, more than twice its grid of %d", key, expires-st.Expiry(m), m.Grid)
	}
	return expires
}

func TestTTLOfEveryKey(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, l := range everyAlgorithm {
		t.Run(l.String(), func(t *testing.T) {
			m := weir.MustMeter(l)
			key := fmt.Sprint("k", i)
			for step := range 60 {
				c := weir.Charge{Key: key, Meter: m, Cost: 1 + rnd.Int64N(4)}
				switch rnd.IntN(6) {
				case 0:
					c.Mode = weir.Refund
				case 1:
					c.Mode = weir.Shadow
				case 2:
					if m.Machine != weir.Slots {
						c.Mode = weir.Always
					}
				}
				e := decide(s, weir.Entry{ID: fmt.Sprint("r", step%20), Charges: []weir.Charge{c}})
				if e.Err != nil {
					t.Fatal(e.Err)
				}
				checkTTL(t, srv, key, m)
			}
		})
	}
	for _, k := range keysOf(srv) {
		if ttl := srv.MustDo("PTTL", k).(int64); ttl == -1 {
			t.Errorf("%q has no TTL", k)
		}
	}
}

// What was written over some time expires over as much: Redis stands still for
// tens of milliseconds when 100,000 keys expire at one instant.
func TestTTLsAreSpread(t *testing.T) {
	srv := redistest.Start(t)
	start := weir.MicrosAt(time.Now()) / ttlGrid * ttlGrid
	now := start
	s := open(t, Options{Addrs: []string{srv.Addr()}, clock: func() weir.Micros { return now }})
	for _, way := range []string{"alone", "general"} {
		m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second})
		const keys = 50
		seen := map[int64]bool{}
		first, last := int64(1<<62), int64(0)
		for i := range keys {
			now = start + ttlGrid/2*weir.Micros(i)/keys // within a cell, and so do their states end
			k := fmt.Sprint(way, i)
			e := one(k, m)
			if way == "general" {
				e.Charges[0].Group = 1
			}
			admit(t, s, e)
			at := srv.MustDo("PEXPIRETIME", k).(int64)
			seen[at] = true
			first, last = min(first, at), max(last, at)
		}
		if span := last - first; len(seen) < keys || span < 4000 || span > 10_000 {
			t.Errorf("%s: %d keys written in 5 s expire at %d instants within %d ms", way, keys, len(seen), span)
		}
	}
}

// ttlGrid is the least grid.
const ttlGrid = 10 * weir.Second

// A limit that is hit again and again has its expiry set now and then, not
// with every hit.
func TestTTLIsKeptByMostWrites(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	for _, tc := range []struct {
		l     weir.Limit
		moves int // how often the expiry may move in 100 hits that take less than a grid
	}{
		// 100 hits move the end of the state by 10 s, a grid: at most twice.
		{weir.Limit{Algorithm: weir.GCRA, Count: 10, Window: weir.Second, Burst: 1000}, 3},
		{weir.Limit{Algorithm: weir.FixedWindow, Count: 1000, Window: weir.Year}, 1},
		{weir.Limit{Algorithm: weir.SlidingWindow, Count: 1000, Window: weir.Hour}, 2},
		{weir.Limit{Algorithm: weir.SlidingLog, Count: 1000, Window: weir.Hour}, 2},
	} {
		t.Run(tc.l.String(), func(t *testing.T) {
			m := weir.MustMeter(tc.l)
			moves, last := 0, weir.Micros(0)
			for range 100 {
				admit(t, s, one(tc.l.String(), m))
				if at := checkTTL(t, srv, tc.l.String(), m); at != last {
					moves, last = moves+1, at
				}
			}
			if moves > tc.moves {
				t.Errorf("the expiry moved %d times in 100 hits, want at most %d", moves, tc.moves)
			}
		})
	}
}

// A state that is read under a slower limit lasts longer than its expiry says.
// It must be extended by the request that finds out, admitted or not.
func TestTTLIsExtendedWhenTheLimitIsLowered(t *testing.T) {
	srv := redistest.Start(t)
	now := weir.MicrosAt(time.Now())
	s := open(t, Options{Addrs: []string{srv.Addr()}, clock: func() weir.Micros { return now }})
	for _, alg := range []weir.Algorithm{weir.GCRA, weir.LeakyBucket, weir.SlidingWindow, weir.SlidingLog} {
		for _, cost := range []int64{1, 5} { // one is admitted under the new limit, five are not
			t.Run(fmt.Sprintf("%s/cost %d", alg, cost), func(t *testing.T) {
				fast := weir.MustMeter(weir.Limit{Algorithm: alg, Count: 100, Window: weir.Second})
				slow := weir.MustMeter(weir.Limit{Algorithm: alg, Count: 102, Window: weir.Day})
				key := fmt.Sprint(alg, cost)
				admit(t, s, weir.Entry{Charges: []weir.Charge{{Key: key, Meter: fast, Cost: 100}}})
				before := checkTTL(t, srv, key, fast)

				e := decide(s, weir.Entry{Charges: []weir.Charge{{Key: key, Meter: slow, Cost: cost}}})
				if e.Err != nil || e.Admitted != (cost == 1) {
					t.Fatalf("admitted %v, err %v", e.Admitted, e.Err)
				}
				after := checkTTL(t, srv, key, slow)
				if after < before+weir.Hour {
					t.Errorf("expires at %d, before %d: not extended to the slower limit's end", after, before)
				}
			})
		}
	}
}
