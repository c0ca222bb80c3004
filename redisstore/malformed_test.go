package redisstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// In a batch with healthy neighbours, a key that holds something else starts
// anew, and nobody else is disturbed.
func TestMalformedValues(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: lost.hooks()})
	set := func(value string) func(string) {
		return func(key string) { srv.MustDo("SET", key, value) }
	}
	for _, tc := range []struct {
		name    string
		plant   func(key string)
		visible bool // a string: the script hands back what it found
	}{
		{"list", func(key string) { srv.MustDo("RPUSH", key, "a", "b") }, false},
		{"hash", func(key string) { srv.MustDo("HSET", key, "a", "b") }, false},
		{"empty", set(""), true},
		{"text", set("hello"), true},
		{"number", set("1234567"), true},
		{"cut short", set("\x00\x01\x00\x00\x05\x06\x1d\x00"), true},
		{"one byte more", set("\x00\x01\x00\x00\x05\x06\x1d\x00\x00\x00\x00\x00\x00"), true},
		{"one run as if of several", set(string(append(append56([]byte("\x80\x01\x00\x00\x05"), time.Now().UnixMicro()), 0, 0, 5))), true},
		{"a megabyte", set(strings.Repeat("x", 1<<20)), true},
	} {
		for _, l := range everyAlgorithm {
			t.Run(tc.name+"/"+l.String(), func(t *testing.T) {
				m := weir.MustMeter(l)
				bad := "bad/" + t.Name()
				good := [2]string{"good1/" + t.Name(), "good2/" + t.Name()}
				tc.plant(bad)
				healthy := still(5)
				admit(t, s, one(good[0], healthy))
				before := lost.of(weir.LossCorruptState)

				b := weir.Batch{Entries: []weir.Entry{one(good[0], healthy), withID(one(bad, m), "r"), one(good[1], healthy)}}
				s.Decide(context.Background(), &b)
				if got := countAdmitted(t, b.Entries); got != 3 {
					t.Fatalf("%d of 3 admitted", got)
				}
				if got := b.Entries[0].Outcomes[0].Before.Used; got != 1 {
					t.Errorf("a neighbour had %d units in use, want 1", got)
				}
				if got := b.Entries[1].Outcomes[0]; got.Before.Used != 0 || got.Remaining != m.Capacity-1 {
					t.Errorf("the key did not start anew: %+v", got)
				}
				if got := state(t, srv, bad, m).Used; got != 1 {
					t.Errorf("%d units are stored, want 1", got)
				}
				checkTTL(t, srv, bad, m)
				if !tc.visible {
					return
				}
				eventually(t, "it to be counted", func() error { // which it is after it is answered
					if lost.of(weir.LossCorruptState) == before {
						return errors.New("it was not")
					}
					return nil
				})
			})
		}
	}
}

// Whatever bytes are found, the script does not fail: the neighbours are
// decided, and what is then stored is a state.
func TestMalformedRandomValues(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	rnd := rand.New(rand.NewPCG(3, 4))
	healthy := still(1_000_000)
	rounds := 150
	for round := range rounds {
		var b weir.Batch
		planted := make(map[string]string)
		var args []string
		for i, l := range everyAlgorithm {
			m := weir.MustMeter(l)
			key, value := fmt.Sprint("k", i), randomState(rnd, m)
			planted[key] = value
			args = append(args, key, value)
			c := weir.Charge{Key: key, Meter: m, Cost: rnd.Int64N(4), Mode: weir.Mode(rnd.IntN(5))}
			if m.Machine == weir.Slots && c.Mode == weir.Always {
				c.Mode = weir.Enforce
			}
			b.Entries = append(b.Entries, weir.Entry{ID: fmt.Sprint(round, "/", i), Charges: []weir.Charge{c}})
		}
		b.Entries = append(b.Entries, one("healthy", healthy))
		srv.MustDo(append([]string{"MSET"}, args...)...)
		s.Decide(context.Background(), &b)
		for i := range b.Entries {
			if err := b.Entries[i].Err; err != nil {
				for k, v := range planted {
					t.Logf("%s: %s", k, hex.EncodeToString([]byte(v)))
				}
				t.Fatalf("round %d, entry %d: %v", round, i, err)
			}
		}
	}
	if got := used(t, s, "healthy", healthy); got != int64(rounds) {
		t.Errorf("the neighbour has %d units in use, want %d", got, rounds)
	}
}

// randomState is a value that looks more or less like a state of m.
func randomState(rnd *rand.Rand, m *weir.Meter) string {
	size := 0
	switch rnd.IntN(4) {
	case 0:
		size = rnd.IntN(64)
	case 1:
		size = 12
	case 2:
		size = 5 + 10*(1+rnd.IntN(6))
	case 3:
		size = 5 + 26*(1+rnd.IntN(4))
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rnd.Uint32())
		if rnd.IntN(3) == 0 {
			b[i] = 0
		}
	}
	if len(b) >= 2 && rnd.IntN(2) == 0 {
		b[0], b[1] = byte(m.Mark>>8), byte(m.Mark)
	}
	return string(b)
}

// A replay record that is none is no reason to fail its batch.
func TestMalformedRecords(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: lost.hooks()})
	m := still(100)
	rnd := rand.New(rand.NewPCG(5, 6))
	damages := []func(string) string{
		func(string) string { return "" },
		func(string) string { return strings.Repeat("\xff", 70) },
		func(string) string { return strings.Repeat("z", 1<<20) },
	}
	for n := range 60 {
		damages = append(damages, func(rec string) string { return rec[:min(n, len(rec))] })
	}
	for range 30 {
		damages = append(damages, func(string) string { return randomState(rnd, m) })
	}
	for i, damage := range damages {
		srv.MustDo("FLUSHALL")
		e := withID(one("k", m), "r")
		admit(t, s, e)
		for _, k := range keysOf(srv) {
			if strings.HasPrefix(k, "#") {
				srv.MustDo("SET", k, damage(srv.MustDo("GET", k).(string)), "KEEPTTL")
			}
		}
		b := weir.Batch{Entries: []weir.Entry{one("neighbour", m), e, one("neighbour", m)}}
		s.Decide(context.Background(), &b)
		for j := range b.Entries {
			if b.Entries[j].Err != nil {
				t.Fatalf("damage %d: entry %d: %v", i, j, b.Entries[j].Err)
			}
		}
		if got := used(t, s, "neighbour", m); got != 2 {
			t.Errorf("damage %d: the neighbour has %d units in use, want 2", i, got)
		}
	}
}
