package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/memstore"
)

func TestEndedContextsAndDeadlinesDecideNothing(t *testing.T) {
	m := meter(t, "10/h")
	s := memstore.New()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancelLate()
	for _, c := range []struct {
		name     string
		ctx      context.Context
		deadline time.Time
		want     weir.Code
		cause    error
	}{
		{"canceled", canceled, time.Time{}, weir.CodeCanceled, context.Canceled},
		{"context's deadline", late, time.Time{}, weir.CodeTimeout, context.DeadlineExceeded},
		{"batch's deadline", context.Background(), time.Unix(1, 0), weir.CodeTimeout, nil},
	} {
		b := &weir.Batch{Deadline: c.deadline, Entries: make([]weir.Entry, 2)}
		for i := range b.Entries {
			b.Entries[i].Charges = []weir.Charge{{Key: "k", Meter: m, Cost: 1}}
			b.Entries[i].Admitted, b.Entries[i].Replayed = true, true
		}
		s.Decide(c.ctx, b)
		for _, e := range b.Entries {
			if weir.CodeOf(e.Err) != c.want || e.Admitted || e.Replayed || !errors.Is(e.Err, c.cause) && c.cause != nil {
				t.Errorf("%s: %+v, want %v", c.name, e, c.want)
			}
		}
		if c.cause == nil {
			continue
		}
		if _, err := s.Read(c.ctx, "k", m); weir.CodeOf(err) != c.want {
			t.Errorf("%s: Read says %v, want %v", c.name, err, c.want)
		}
		if err := s.Reset(c.ctx, "k"); weir.CodeOf(err) != c.want {
			t.Errorf("%s: Reset says %v, want %v", c.name, err, c.want)
		}
	}
	b := &weir.Batch{Deadline: time.Now().Add(time.Hour), Entries: []weir.Entry{{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}}}}}
	if s.Decide(context.Background(), b); b.Entries[0].Err != nil || used(t, s, "k", m) != 1 {
		t.Errorf("a deadline to come: %+v, %d in use, want 1", b.Entries[0], used(t, s, "k", m))
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	m := meter(t, "10/h")
	s := memstore.New()
	take(t, s, "k", m, 1)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, takeErr := s.Take("k", m, 1)
	_, readErr := s.Read(context.Background(), "k", m)
	resetErr := s.Reset(context.Background(), "k")
	entries := decide(t, s,
		weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}}},
		weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}, {Key: "l", Meter: m, Cost: 1}}})
	for i, err := range []error{takeErr, readErr, resetErr, entries[0].Err, entries[1].Err} {
		if weir.CodeOf(err) != weir.CodeClosed {
			t.Errorf("call %d after Close says %v, want closed", i, err)
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d keys are held after Close", s.Len())
	}
}

// Close while others decide: each call is decided or told.
func TestCloseDuringCalls(t *testing.T) {
	m := meter(t, "10/h")
	for range 20 {
		s := memstore.New()
		together(func(w int) {
			if w == 0 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			for i := range 100 {
				c := []weir.Charge{{Key: fmt.Sprint("a", i), Meter: m, Cost: 1}, {Key: fmt.Sprint("b", i), Meter: m, Cost: 1}}
				e := decide(t, s, weir.Entry{Charges: c[:1+i%2]})[0]
				if e.Err != nil && weir.CodeOf(e.Err) != weir.CodeClosed {
					t.Error(e.Err)
				}
			}
		})
		if s.Len() != 0 {
			t.Fatalf("%d keys are held after Close", s.Len())
		}
	}
}

func TestReadAndResetRefuseBadInput(t *testing.T) {
	s := memstore.New()
	long := strings.Repeat("k", weir.MaxKeyBytes+1)
	for _, key := range []string{"", long} {
		_, readErr := s.Read(context.Background(), key, meter(t, "1/s"))
		for _, err := range []error{readErr, s.Reset(context.Background(), key)} {
			var typed *weir.Error
			if !errors.As(err, &typed) || typed.Code != weir.CodeInvalid || !strings.HasSuffix(typed.Field, "key") {
				t.Errorf("key of %d bytes: %v, want an error that names the key", len(key), err)
			}
		}
	}
	if _, err := s.Read(context.Background(), "k", nil); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("no meter: %v", err)
	}
}

// An entry that is invalid does not disturb its neighbours.
func TestInvalidEntriesStandAlone(t *testing.T) {
	m := meter(t, "10/h")
	s := memstore.New()
	good := weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}}}
	bad := weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}, {Key: "k", Meter: m, Cost: 1}}}
	got := decide(t, s, good, bad, weir.Entry{}, good)
	for i, wantErr := range []bool{false, true, true, false} {
		if (got[i].Err != nil) != wantErr || got[i].Admitted == wantErr {
			t.Errorf("entry %d: %+v", i, got[i])
		}
	}
	if n := used(t, s, "k", m); n != 2 {
		t.Errorf("%d in use, want 2", n)
	}
}

// Keys that differ in any way are different, wherever they are stored.
func TestKeysDoNotMeet(t *testing.T) {
	m := meter(t, "1000/h gcra")
	clock := newTestClock()
	s := memstore.New(clock.option())
	var keys []string
	for n := 1; n <= 300; n++ {
		keys = append(keys, strings.Repeat("\x00", n), strings.Repeat("\xff", n), strings.Repeat("k", n-1)+"}")
	}
	keys = append(keys, strings.Repeat("k", weir.MaxKeyBytes), strings.Repeat("k", weir.MaxKeyBytes-1))
	for round := range 2 {
		for i, k := range keys {
			if o := take(t, s, k, m, int64(1+i)); o.Before.Used != int64(round*(1+i)) {
				t.Fatalf("key %d of %d bytes has %d in use, want %d", i, len(k), o.Before.Used, round*(1+i))
			}
		}
		clock.move(1)
		if round == 0 && s.Len() != len(keys) {
			t.Fatalf("%d keys are held, want %d", s.Len(), len(keys))
		}
	}
}

// A panic under a lock must not leave it locked.
func TestPanicReleasesTheLock(t *testing.T) {
	clock := newTestClock()
	s := memstore.New(clock.option(), memstore.WithMaxKeys(10)) // one shard
	m := meter(t, "10/h gcra")
	broken := &weir.Meter{Den: 1, Capacity: 10, UsedCap: 10, Mark: m.Mark} // drains by a division by 0
	take(t, s, "a", m, 1)
	clock.move(1)
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return false
	}
	two := weir.Entry{Charges: []weir.Charge{{Key: "b", Meter: m, Cost: 1}, {Key: "a", Meter: broken, Cost: 1}}}
	for name, f := range map[string]func(){
		"Take":         func() { _, _ = s.Take("a", broken, 1) },
		"Submit":       func() { s.Submit(&weir.Batch{Entries: []weir.Entry{{Charges: two.Charges[1:]}}}, func(*weir.Batch) {}) },
		"two charges":  func() { s.Submit(&weir.Batch{Entries: []weir.Entry{two}}, func(*weir.Batch) {}) },
		"Read, a lock": func() { _, _ = s.Read(context.Background(), "a", broken) },
	} {
		if !panics(f) {
			t.Errorf("%s: the broken meter did not panic, so that nothing is shown", name)
		}
		if n := used(t, s, "a", m); n != 1 { // hangs if the lock is held
			t.Errorf("%s: %d in use after the panic, want 1", name, n)
		}
	}
}

func TestReplaysAreBounded(t *testing.T) {
	m := meter(t, "1000000/h gcra")
	clock := newTestClock()
	s := memstore.New(clock.option(), memstore.WithMaxKeys(600), memstore.WithMaxReplays(100)) // one shard
	ask := func(i int) weir.Entry {
		return decide(t, s, weir.Entry{ID: fmt.Sprint(i), Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}}})[0]
	}
	for i := range 150 {
		ask(i)
	}
	if st := s.Stats(); st.Replays != 100 || st.ReplaysForgotten != 50 || st.Replayed != 0 {
		t.Errorf("%+v, want 100 ids held and 50 forgotten", st)
	}
	if e := ask(149); !e.Replayed {
		t.Error("the newest id is forgotten")
	}
	if e := ask(49); e.Replayed {
		t.Error("an id is remembered that should have given way")
	}
	clock.move(algo.ReplayWindow)
	if e := ask(148); e.Replayed {
		t.Error("an id is remembered for longer than the window")
	}
	if st := s.Stats(); st.Replayed != 1 {
		t.Errorf("%+v, want one replay", st)
	}
}

// Options out of range mean the default, and shards follow from the cap.
func TestOptions(t *testing.T) {
	m := meter(t, "10/h")
	for _, opts := range [][]memstore.Option{
		{},
		{memstore.WithMaxKeys(-1), memstore.WithShards(-1), memstore.WithMaxReplays(-1), memstore.WithClock(nil)},
		{memstore.WithMaxKeys(1), memstore.WithShards(1 << 20)},
		{memstore.WithMaxKeys(1 << 22), memstore.WithShards(1)},
		{memstore.WithShards(3)},
	} {
		s := memstore.New(opts...)
		if o := take(t, s, "k", m, 1); !o.OK || s.Len() != 1 {
			t.Errorf("%d options: %+v, %d keys", len(opts), o, s.Len())
		}
	}
}
