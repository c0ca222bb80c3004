package redisstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// quick has heartbeats follow each other closely. The TTL bounds how long a busy
// machine may hold one up.
var quick = JoinOptions{Every: 10 * time.Millisecond, TTL: 2 * time.Second}

// awaitCounts waits until each of ms counts want.
func awaitCounts(t *testing.T, want int, ms ...*Members) {
	t.Helper()
	eventually(t, fmt.Sprintf("a count of %d", want), func() error {
		for i, m := range ms {
			if got := m.Count(); got != want {
				return fmt.Errorf("instance %d counts %d", i, got)
			}
		}
		return nil
	})
}

// leave leaves, and fails the test if that cannot be said.
func leave(t *testing.T, m *Members) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	if err := m.Leave(ctx); err != nil {
		t.Errorf("leave: %v", err)
	}
}

// Instances see each other; one that leaves is gone at once, one that dies when
// its last heartbeat is old; while Redis is away the last count holds.
func TestMembers(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL(aclUser(aclCommands)))
	o := asACLUser(Options{Addrs: []string{srv.Addr()}, ConnTimeout: 500 * time.Millisecond})
	stores := make([]*Store, 3)
	ms := make([]*Members, 3)
	for i := range ms {
		stores[i] = open(t, o)
		ms[i] = stores[i].Join(quick)
	}
	awaitCounts(t, 3, ms...)

	o.Prefix = aclPrefix + "other:"
	stranger := open(t, o).Join(quick)
	awaitCounts(t, 1, stranger)
	awaitCounts(t, 3, ms...)

	leave(t, ms[2])
	awaitCounts(t, 2, ms[:2]...)
	if err := stores[1].Close(); err != nil { // without a word, like a crash
		t.Fatal(err)
	}
	awaitCounts(t, 1, ms[0])

	again := stores[2].Join(quick)
	awaitCounts(t, 2, ms[0], again)
	srv.Stop()
	eventually(t, "heartbeats that fail", func() error {
		if _, err := ms[0].beat(true); err == nil {
			return fmt.Errorf("one was answered")
		}
		return nil
	})
	time.Sleep(10 * quick.Every)
	awaitCounts(t, 2, ms[0], again)
	srv.Restart() // it has forgotten them
	awaitCounts(t, 2, ms[0], again)
}

// A member that died is counted until its last heartbeat is old, not longer.
func TestMembersExpire(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := s.Join(JoinOptions{Every: 10 * time.Millisecond, TTL: 300 * time.Millisecond})
	dead := s.Join(JoinOptions{Every: time.Hour, TTL: 300 * time.Millisecond}) // one heartbeat
	awaitCounts(t, 2, m)
	began := time.Now()
	awaitCounts(t, 1, m)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it was counted for %v after its last heartbeat, want about 300 ms", took)
	}
	leave(t, dead)
	leave(t, m)
	if n := srv.MustDo("EXISTS", membersKey); n != int64(0) {
		t.Error("the last one to leave leaves something behind")
	}
}

// The key has an expiry, and what is no list of members is replaced.
func TestMembersKey(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	for name, spoil := range map[string]func(){
		"another type": func() { srv.MustDo("LPUSH", membersKey, "x") },
		"cut off":      func() { srv.MustDo("SET", membersKey, strings.Repeat("x", 23)) },
		"the future":   func() { srv.MustDo("SET", membersKey, strings.Repeat("\x00", 16)+"\x00\x00\x7f\xff\xff\xff\xff\xff") },
	} {
		t.Run(name, func(t *testing.T) {
			srv.MustDo("DEL", membersKey)
			spoil()
			m := s.Join(JoinOptions{Every: 10 * time.Millisecond, TTL: 200 * time.Millisecond})
			awaitCounts(t, 1, m)
			eventually(t, "this one alone", func() error {
				got, _ := srv.Do("GET", membersKey)
				v, _ := got.(string)
				if len(v) != 24 || v[:16] != string(m.id[:]) {
					return fmt.Errorf("it holds %q", v)
				}
				return nil
			})
			if ms, _ := srv.MustDo("PTTL", membersKey).(int64); ms <= 0 || ms > 200 {
				t.Errorf("it expires in %d ms", ms)
			}
			leave(t, m)
		})
	}
}

// Without Redis at the start the fallback is the count; later what is known.
func TestMembersBootWithoutRedis(t *testing.T) {
	srv := redistest.Start(t)
	srv.Stop()
	s := open(t, Options{Addrs: []string{srv.Addr()}, AllowDown: true})
	told := make(chan Heartbeat, 100)
	o := quick
	o.Fallback, o.Told = 7, func(h Heartbeat) {
		select {
		case told <- h:
		default:
		}
	}
	m := s.Join(o)
	h := <-told
	if m.Count() != 7 || h.Instances != 7 || weir.CodeOf(h.Err) != weir.CodeRefused {
		t.Errorf("count %d, told %+v, want 7 and that the connection is refused", m.Count(), h)
	}
	srv.Restart()
	awaitCounts(t, 1, m)
}

// On one machine there is one clock: what is measured is within its own doubt.
func TestMembersClock(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := s.Join(quick)
	for range 50 {
		h, err := m.beat(true)
		if err != nil {
			t.Fatal(err)
		}
		// Redis reads its clock once per turn of its loop and not per call.
		if slack := h.Doubt + time.Millisecond; h.Offset > slack || h.Offset < -slack {
			t.Errorf("an offset of %v with a doubt of %v", h.Offset, h.Doubt)
		}
	}
}

func TestMembersCluster(t *testing.T) {
	c := startCluster(t, 3, 0)
	var ms []*Members
	for range 2 {
		ms = append(ms, open(t, c.opts).Join(quick))
	}
	awaitCounts(t, 2, ms...)
	leave(t, ms[1])
	awaitCounts(t, 1, ms[0])
}

// Leave keeps to its context, and Close to its word, whatever the server does.
func TestMembersLeaveAHangingServer(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: 500 * time.Millisecond})
	m := s.Join(quick)
	awaitCounts(t, 1, m)
	srv.Pause()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	wantCode(t, m.Leave(ctx), weir.CodeTimeout)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	srv.Resume()
}

// TestMembersHear: a count rises at once and falls when two heartbeats agree, so
// that a server that has forgotten everybody makes nobody think it is alone.
func TestMembersHear(t *testing.T) {
	m := &Members{last: 4}
	m.count.Store(4)
	for i, step := range []struct{ heard, want int64 }{
		{4, 4}, {5, 5}, {1, 5}, {5, 5}, // one that hears of everybody a beat later
		{1, 5}, {3, 3}, {5, 5}, // two beats until it does
		{4, 5}, {4, 4}, {2, 4}, {1, 2}, {1, 1}, {9, 9},
	} {
		if m.hear(step.heard); m.Count() != int(step.want) {
			t.Fatalf("step %d: %d after hearing %d, want %d", i, m.Count(), step.heard, step.want)
		}
	}
}

// A server that forgets its members does not lower their counts: each is heard
// of again within one interval.
func TestMembersFlushed(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	told := make(chan Heartbeat, 1)
	var ms []*Members
	for range 3 {
		ms = append(ms, s.Join(JoinOptions{Every: time.Hour, TTL: time.Hour, Told: func(h Heartbeat) { told <- h }}))
		<-told // the one of its own; what follows is the test's
	}
	round := func() {
		for i, m := range ms {
			h, err := m.beat(true)
			if err != nil {
				t.Fatal(err)
			}
			if m.hear(int64(h.Instances)); m.Count() != 3 {
				t.Errorf("instance %d counts %d of 3 after a heartbeat that counted %d", i, m.Count(), h.Instances)
			}
		}
	}
	round()
	for range 2 {
		srv.MustDo("FLUSHALL")
		round()
		round()
	}
}
