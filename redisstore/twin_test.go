package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/redistest"
)

// renamed is a charge of one unit of a counter under two names, both with k's
// hash tag.
func renamed(k string, how weir.Twinning, m *weir.Meter) weir.Charge {
	c := weir.Charge{Key: k + "new", Twin: k + "old", Twinning: how, Meter: m, Cost: 1}
	if how == weir.TwinNext {
		c.Key, c.Twin = c.Twin, c.Key
	}
	return c
}

func entryOf(charges ...weir.Charge) weir.Entry { return weir.Entry{Charges: charges} }

// Identical entries are grouped, twins or not; those of one counter that differ
// in how they name it are not. The cap on keys counts every name.
func TestTwinsInAFlight(t *testing.T) {
	m := still(10)
	next, last, old := renamed("{t}", weir.TwinNext, m), renamed("{t}", weir.TwinLast, m), renamed("{t}", weir.TwinOld, m)
	plain := weir.Charge{Key: "{t}old", Meter: m, Cost: 1}
	build := func(keyCap int, entries ...weir.Entry) (*flight, int) {
		f := newFlight(&Store{})
		items := make([]*item, len(entries))
		for i := range entries {
			items[i] = &item{}
			items[i].init(&entries[i], &amendment{}, 0, 0)
			items[i].ordered = true
		}
		return f, f.build(items, keyCap)
	}
	f, _ := build(16, entryOf(next), entryOf(next), entryOf(last), entryOf(next), entryOf(old), entryOf(last), entryOf(plain), entryOf(plain))
	if got := len(f.groups); got != 6 || f.keys.len() != 2 {
		t.Errorf("%d groups and %d keys, want 6 and 2", got, f.keys.len())
	}
	for i, want := range []int32{2, 1, 1, 1, 1, 2} {
		if g := f.groups[i]; g.count != want || (g.flags == flagTwins) != (i < 5) {
			t.Errorf("group %d: count %d, flags %d", i, g.count, g.flags)
		}
	}
	for i := range f.charges {
		if f.charges[i].Key != "" || f.charges[i].Twin != "" {
			t.Error("a flight refers to its caller's memory")
		}
	}
	var many []weir.Entry
	for i := range 10 {
		many = append(many, entryOf(renamed(fmt.Sprintf("{t%d}", i), weir.TwinLast, m)))
	}
	if f, n := build(6, many...); n != 3 || f.keys.len() != 6 {
		t.Errorf("a flight of 6 keys took %d entries and %d keys, want 3 and 6", n, f.keys.len())
	}
}

// Twins of one batch stay in order, whichever of them is the key.
func TestTwinsOrderABatch(t *testing.T) {
	m := still(10)
	for _, b := range []weir.Batch{
		{Entries: []weir.Entry{entryOf(renamed("{t}", weir.TwinNext, m)), entryOf(renamed("{t}", weir.TwinLast, m))}},
		{Entries: []weir.Entry{entryOf(renamed("{t}", weir.TwinNext, m)), one("{t}new", m)}},
		{Entries: []weir.Entry{one("{t}old", m), entryOf(renamed("{t}", weir.TwinOld, m))}},
	} {
		if !sharesKeys(&b) {
			t.Errorf("no order between %+v", b.Entries)
		}
	}
}

// A name that holds no state, but something else, counts for none.
func TestTwinOfADamagedState(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	var st algo.State
	algo.Decide(m, &st, weir.MicrosAt(time.Now()), 4, algo.Owner{})
	good := string(algo.AppendState(nil, m, &st))
	for i, damage := range [][]string{{"SET", "", "x"}, {"SET", "", good + "x"}, {"LPUSH", "", "x"}} {
		for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
			k := fmt.Sprintf("{damaged%d-%s}", i, how)
			c := renamed(k, how, m)
			srv.MustDo(damage[0], k+"old", damage[2])
			srv.MustDo("SET", k+"new", good)
			e := decide(s, entryOf(c))
			if e.Err != nil || e.Outcomes[0].Before.Used != 4 {
				t.Fatalf("%q, twinning %s: %v, %+v; want 4 units found", damage, how, e.Err, e.Outcomes)
			}
			if got := used(t, s, c.Key, m); got != 5 {
				t.Errorf("%q, twinning %s: %d units in use, want 5", damage, how, got)
			}
		}
	}
}

// Both names of a counter expire within a grid, and never before its state does.
func TestTTLOfTwins(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, l := range everyAlgorithm {
		m := weir.MustMeter(l)
		k := fmt.Sprintf("{k%d}", i)
		for step := range 40 {
			how := weir.TwinNext + weir.Twinning(rnd.IntN(3))
			c := renamed(k, how, m)
			c.Cost = 1 + rnd.Int64N(4)
			if rnd.IntN(4) == 0 {
				c.Mode = weir.Refund
			}
			e := decide(s, weir.Entry{ID: fmt.Sprint(step % 9), Charges: []weir.Charge{c}})
			if e.Err != nil {
				t.Fatal(e.Err)
			}
			old, new := checkTTL(t, srv, k+"old", m), checkTTL(t, srv, k+"new", m)
			if old != 0 && new != 0 && max(old, new)-min(old, new) > m.Grid {
				t.Fatalf("%s: one name expires at %d, the other at %d", l, old, new)
			}
			if !e.Replayed && e.Outcomes[0].Granted > 0 && how != weir.TwinLast && old != 0 && new != 0 {
				t.Fatalf("%s: both names are held after twinning %s", l, how)
			}
		}
	}
}

// A request for a counter of two names is remembered for as long as any other.
func TestTTLOfATwinsRecord(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	e := entryOf(renamed("{t}", weir.TwinLast, still(10)))
	e.ID = "id"
	admit(t, s, e)
	owner, _, _ := algo.ReplayOwner(&e, nil)
	if ms := srv.MustDo("PTTL", s.replayPrefix(0)+string(owner[:])).(int64); ms < 590_000 || ms > 600_000 {
		t.Errorf("the record is kept for %d ms, want 10 minutes", ms)
	}
}

// testSplitTwins is a subtest of TestCluster: an entry of several nodes is
// undone under the names that its counters have.
func testSplitTwins(t *testing.T, c *cluster) {
	m := still(10)
	find := func(k string) int64 {
		look := renamed(k, weir.TwinOld, m)
		look.Mode = weir.Peek
		return decide(c.s, entryOf(look)).Outcomes[0].Before.Used
	}
	for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
		for _, id := range []string{"", "twins"} {
			a, b, full := c.on(t, 0), c.on(t, 1), c.on(t, 2)
			admit(t, c.s, entryOf(charge(full, m, 10)))
			admit(t, c.s, entryOf(charge(a+"old", m, 3)))
			e := weir.Entry{ID: id, Charges: []weir.Charge{renamed(a, how, m), charge(full, m, 1), renamed(b, how, m)}}
			deny(t, c.s, e)
			eventually(t, "the undo", func() error {
				if got := [2]int64{find(a), find(b)}; got != [2]int64{3, 0} {
					return fmt.Errorf("twinning %s, id %q: %d units in use, want 3 and 0", how, id, got)
				}
				return nil
			})
		}
		// What one part was granted too much is returned.
		a, b := c.on(t, 0), c.on(t, 1)
		admit(t, c.s, entryOf(charge(a+"old", m, 8)))
		x, y := renamed(a, how, m), renamed(b, how, m)
		x.Mode, x.Cost, y.Mode, y.Cost = weir.UpTo, 5, weir.UpTo, 5
		if e := admit(t, c.s, entryOf(x, y)); e.Outcomes[0].Granted != 2 || e.Outcomes[1].Granted != 2 {
			t.Errorf("twinning %s: granted %+v, want 2 each", how, e.Outcomes)
		}
		eventually(t, "the refund", func() error {
			if got := [2]int64{find(a), find(b)}; got != [2]int64{10, 2} {
				return fmt.Errorf("%d units in use, want 10 and 2", got)
			}
			return nil
		})
	}
}

// testTwinsInAskWindow is a subtest of TestCluster: while a slot moves, a
// counter of which one name has moved and one has not, or is nowhere, waits.
func testTwinsInAskWindow(t *testing.T, c *cluster) {
	m := still(100)
	slot, keys := c.tagged(t, 0, 1)
	k := keys[0]
	admit(t, c.s, entryOf(charge(k+"old", m, 10)))
	from, to := c.Nodes()[0], c.Nodes()[1]
	c.BeginMigrate(from, to, slot)
	try := func() {
		t.Helper()
		b := weir.Batch{Deadline: time.Now().Add(100 * time.Millisecond)}
		for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
			b.Entries = append(b.Entries, entryOf(renamed(k, how, m)))
		}
		c.s.Decide(context.Background(), &b)
		for i := range b.Entries {
			wantCode(t, b.Entries[i].Err, weir.CodeTryAgain)
		}
	}
	try()
	c.MoveKeys(from, to, aclPrefix+k+"old")
	try()
	waiting := make(chan weir.Entry)
	go func() { waiting <- decide(c.s, entryOf(renamed(k, weir.TwinOld, m))) }()
	c.FinishMigrate(from, to, slot)
	if e := <-waiting; e.Err != nil || e.Outcomes[0].Before.Used != 10 {
		t.Errorf("after the move: %v, %+v; want 10 units found", e.Err, e.Outcomes)
	}
	if old, new := used(t, c.s, k+"old", m), used(t, c.s, k+"new", m); old != 0 || new != 11 {
		t.Errorf("%d and %d units in use, want 0 and 11", old, new)
	}
	c.MigrateSlots(to, from, slot)
}
