package redisstore

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func withID(e weir.Entry, id string) weir.Entry {
	e.ID = id
	return e
}

func TestReplayTakesTheSameCall(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	admit(t, s, one("warm", m))
	srv.MustDo("CONFIG", "RESETSTAT")

	first := admit(t, s, withID(one("k", m), "r1"))
	if got := srv.CommandStats()["evalsha"]; got != 1 {
		t.Errorf("charge and record took %d calls, want 1", got)
	}
	again := admit(t, s, withID(one("k", m), "r1"))
	stats := srv.CommandStats()
	if got := stats["evalsha"]; got != 2 {
		t.Errorf("the replay took %d calls, want 1", got-1)
	}
	if first.Replayed || !again.Replayed {
		t.Errorf("replayed %v then %v, want false then true", first.Replayed, again.Replayed)
	}
	if first.Outcomes[0] != again.Outcomes[0] || first.Now != again.Now {
		t.Errorf("the replay answers %+v at %d, the first %+v at %d", again.Outcomes[0], again.Now, first.Outcomes[0], first.Now)
	}
	if got := used(t, s, "k", m); got != 1 {
		t.Errorf("%d units in use, want 1", got)
	}
}

func TestReplayWithinOneBatch(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	b := weir.Batch{Entries: []weir.Entry{
		withID(one("k", m), "r"), withID(one("k", m), "other"), withID(one("k", m), "r"), one("k", m),
	}}
	s.Decide(context.Background(), &b)
	if got := countAdmitted(t, b.Entries); got != 4 {
		t.Fatalf("%d admitted, want 4", got)
	}
	if !b.Entries[2].Replayed || b.Entries[0].Replayed || b.Entries[2].Outcomes[0] != b.Entries[0].Outcomes[0] {
		t.Errorf("the second of an id answers %+v, the first %+v", b.Entries[2].Outcomes[0], b.Entries[0].Outcomes[0])
	}
	if got := used(t, s, "k", m); got != 3 {
		t.Errorf("%d units in use, want 3", got)
	}
}

func TestReplayAcrossStores(t *testing.T) {
	srv := redistest.Start(t)
	a, b := openAt(t, srv), openAt(t, srv)
	m := still(10)
	e := weir.Entry{ID: "r1", Charges: []weir.Charge{
		{Key: "k1", Meter: m, Cost: 3}, {Key: "k2", Meter: m, Cost: 2, Mode: weir.Shadow},
	}}
	first := admit(t, a, e)
	admit(t, b, one("k1", m)) // in between, so that a fresh decision would differ
	again := admit(t, b, e)
	if !again.Replayed {
		t.Error("another store on the same redis does not replay")
	}
	for i := range first.Outcomes {
		if first.Outcomes[i] != again.Outcomes[i] {
			t.Errorf("charge %d: replayed %+v, first %+v", i, again.Outcomes[i], first.Outcomes[i])
		}
	}
	if got := used(t, a, "k1", m); got != 4 {
		t.Errorf("k1 has %d units in use, want 4", got)
	}
}

// An id names a request only together with what it asks.
func TestReplayIsOfTheSameRequestOnly(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(100)
	admit(t, s, withID(one("k", m), "r"))
	for name, e := range map[string]weir.Entry{
		"key":  withID(one("k2", m), "r"),
		"cost": {ID: "r", Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 2}}},
		"mode": {ID: "r", Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1, Mode: weir.Shadow}}},
		"id":   withID(one("k", m), "r2"),
	} {
		if got := admit(t, s, e); got.Replayed {
			t.Errorf("another %s was answered as a replay", name)
		}
	}
}

func TestReplayOfADenialIsDecidedAfresh(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1)
	admit(t, s, one("k", m))
	deny(t, s, withID(one("k", m), "r"))
	if err := s.Reset(context.Background(), "k"); err != nil {
		t.Fatal(err)
	}
	if e := admit(t, s, withID(one("k", m), "r")); e.Replayed {
		t.Error("a denial was replayed")
	}
}

func TestReplayIsForgottenByFlushall(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	admit(t, s, withID(one("k", m), "r"))
	srv.MustDo("FLUSHALL")
	if e := admit(t, s, withID(one("k", m), "r")); e.Replayed {
		t.Error("a record outlived FLUSHALL")
	}
}

func TestReplayRecordLivesTenMinutes(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, Prefix: "w:"})
	admit(t, s, withID(one("k", still(10)), "r"))
	records := 0
	for _, k := range keysOf(srv) {
		if !strings.HasPrefix(k, "w:#") {
			continue
		}
		records++
		ttl := srv.MustDo("PTTL", k).(int64) // ms
		if ttl <= 9*60*1000 || ttl > 10*60*1000 {
			t.Errorf("the record lives %d ms, want ten minutes", ttl)
		}
	}
	if records != 1 {
		t.Errorf("%d records, want 1: %q", records, keysOf(srv))
	}
}

// A refund under one id happens once.
func TestRefundUnderOneIDHappensOnce(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	admit(t, s, weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 5}}})
	for i := range 3 {
		e := admit(t, s, weir.Entry{ID: "give", Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 2, Mode: weir.Refund}}})
		if e.Replayed != (i > 0) || e.Outcomes[0].Granted != 2 {
			t.Errorf("refund %d: replayed %v, gave %d", i, e.Replayed, e.Outcomes[0].Granted)
		}
	}
	if got := used(t, s, "k", m); got != 3 {
		t.Errorf("%d units in use, want 3", got)
	}
}

// keysOf lists every key of a server.
func keysOf(srv *redistest.Server) []string {
	var out []string
	for cursor := "0"; ; {
		page := srv.MustDo("SCAN", cursor, "COUNT", strconv.Itoa(1000)).([]any)
		items, _ := page[1].([]any)
		for _, k := range items {
			out = append(out, k.(string))
		}
		if cursor = page[0].(string); cursor == "0" {
			return out
		}
	}
}
