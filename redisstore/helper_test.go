package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// generous is a deadline that only a hang exceeds.
const generous = 20 * time.Second

// open makes a store that is closed with the test. Times that are not given are
// generous: a busy machine must not look like a broken connection.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Deadline == 0 {
		o.Deadline = generous
	}
	if o.ConnTimeout == 0 {
		o.ConnTimeout = generous / 2
	}
	s, err := New(context.Background(), o)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// patient is a breaker that never opens, for tests of what is behind it.
var patient = Breaker{Consecutive: math.MaxInt32, MaxShare: 1}

// openAt is open on a single server.
func openAt(t testing.TB, srv *redistest.Server) *Store {
	t.Helper()
	return open(t, Options{Addrs: []string{srv.Addr()}})
}

// still is a limit of so many units that frees none while a test runs: the
// first comes back after a year divided by n, 31 s for a million.
func still(n int64) *weir.Meter {
	return weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: n, Window: weir.Year})
}

// one is an entry of one enforced charge of one unit.
func one(key string, m *weir.Meter) weir.Entry {
	return weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}}
}

// decide decides one entry by itself.
func decide(s *Store, e weir.Entry) weir.Entry {
	b := weir.Batch{Entries: []weir.Entry{e}}
	s.Decide(context.Background(), &b)
	return b.Entries[0]
}

// admit decides an entry that must pass.
func admit(t testing.TB, s *Store, e weir.Entry) weir.Entry {
	t.Helper()
	e = decide(s, e)
	if e.Err != nil || !e.Admitted {
		t.Fatalf("admitted %v, err %v, want an admission", e.Admitted, e.Err)
	}
	return e
}

// deny decides an entry that must not.
func deny(t testing.TB, s *Store, e weir.Entry) weir.Entry {
	t.Helper()
	e = decide(s, e)
	if e.Err != nil || e.Admitted {
		t.Fatalf("admitted %v, err %v, want a denial", e.Admitted, e.Err)
	}
	return e
}

// used is what a key holds, as the store tells it.
func used(t testing.TB, s *Store, key string, m *weir.Meter) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	o, err := s.Read(ctx, key, m)
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	return o.Before.Used
}

// doer is a server, or whatever else commands are sent to.
type doer interface{ MustDo(args ...string) any }

// state is what the server holds under key; the zero state when nothing.
func state(t testing.TB, srv doer, key string, m *weir.Meter) algo.State {
	t.Helper()
	var st algo.State
	raw, ok := srv.MustDo("GET", key).(string)
	if !ok {
		return st
	}
	if err := algo.ParseState([]byte(raw), m, &st); err != nil {
		t.Fatalf("the value of %q is not a state: %x", key, raw)
	}
	return st
}

// losses counts what Hooks.Lost tells.
type losses [4]atomic.Int64

func (l *losses) hooks() weir.Hooks {
	return weir.Hooks{Lost: func(kind weir.Loss, n int) { l[kind].Add(int64(n)) }}
}

func (l *losses) of(kind weir.Loss) int64 { return l[kind].Load() }

func (l *losses) String() string {
	return fmt.Sprintf("late %d, refund %d, uncertain %d, corrupt %d", l[0].Load(), l[1].Load(), l[2].Load(), l[3].Load())
}

// eventually polls until check returns nil.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(generous); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("waited %v for %s: %v", generous, what, err)
}

// wantUsed is a check for eventually.
func wantUsed(t testing.TB, s *Store, key string, m *weir.Meter, want int64) func() error {
	return func() error {
		if got := used(t, s, key, m); got != want {
			return fmt.Errorf("%q has %d units in use, want %d", key, got, want)
		}
		return nil
	}
}

// wantCode fails the test unless err is an *weir.Error of that code.
func wantCode(t testing.TB, err error, code weir.Code) {
	t.Helper()
	_ = codeError(t, err, code)
}

// codeError is wantCode for a test that wants to see more of it.
func codeError(t testing.TB, err error, code weir.Code) *weir.Error {
	t.Helper()
	e, ok := errors.AsType[*weir.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("error %v (%s), want code %s", err, weir.CodeOf(err), code)
	}
	return e
}

// distant has the store's only server be taken for one far away, for some
// thousand flights: pipelineAt entries are worth a second one.
func distant(s *Store) {
	sh := s.topo.Load().shards[0]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.mu.pace.away = time.Minute
}

// warm has the script loaded and a connection made for every flight of a store
// that is its server's only one. None is on standby after it, whatever the last of
// its flights carried.
func warm(t testing.TB, s *Store, srv *redistest.Server) {
	t.Helper()
	distant(s)
	eventually(t, "a connection for every flight", func() error {
		for _, e := range crowd(s, 8*pipelineAt, one("{warm}", still(1))) {
			if e.Err != nil {
				return e.Err
			}
		}
		clients, _ := srv.MustDo("CLIENT", "LIST").(string)
		// The client library keeps one for itself.
		if n := strings.Count(clients, "name=weir "); n < 1+flightsPerShard {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
	sh := s.topo.Load().shards[0]
	eventually(t, "nobody on standby", func() error {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		sh.dismissLocked(nil)
		if sh.mu.parked != flightsPerShard {
			return fmt.Errorf("%d wait for work", sh.mu.parked)
		}
		return nil
	})
}
