package redisstore

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
)

// starts collects when dials begin.
type starts struct {
	mu sync.Mutex
	at []time.Time
}

func (s *starts) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
}

// most is the greatest number within any span.
func (s *starts) most(span time.Duration) (most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.at {
		n := 0
		for _, at := range s.at[i:] {
			if at.Sub(s.at[i]) < span {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// bounded holds that in no span there were more dials than 2 and one each 510 ms.
// off is how far the instants may be from those of the dials.
func (s *starts) bounded(t *testing.T, off time.Duration) {
	t.Helper()
	for _, span := range []time.Duration{dialGap / 2, time.Second, 2 * time.Second, 5 * time.Second, 20 * time.Second} {
		most := dialBurst + int((span+off)/dialGap)
		if n := s.most(span); n > most {
			t.Errorf("%d dials within %v, want %d at most", n, span, most)
		}
	}
}

// However many want a connection, a server that refuses, hangs, or is no primary
// is dialled twice a second at most, and not given up.
func TestDoorBounds(t *testing.T) {
	down := &notSentError{errors.New("down")}
	for name, tc := range map[string]struct {
		takes time.Duration
		err   error
	}{
		"refuses":    {0, down},
		"hangs":      {time.Second, down},
		"hangs long": {10 * time.Second, down},
		"no primary": {time.Millisecond, &notSentError{&weir.Error{Code: weir.CodeReadOnly}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen starts
				var inside, most atomic.Int64
				d := new(door)
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(3 * time.Millisecond) {
							err := d.try(true, func() error {
								seen.note()
								most.Store(max(most.Load(), inside.Add(1)))
								time.Sleep(tc.takes)
								inside.Add(-1)
								return tc.err
							})
							if err == nil {
								t.Error("a connection to a server that is away")
							}
						}
					})
				}
				wg.Wait()
				seen.bounded(t, 0)
				if n := most.Load(); n > maxInside {
					t.Errorf("%d dials at once, want %d at most", n, maxInside)
				}
				if n := len(seen.at); n < 7 {
					t.Errorf("%d dials in 20 s: it was given up", n)
				}
			})
		})
	}
}

// A server that answers is dialled as often as anybody wants; a replica may
// still be asked for the topology.
func TestDoorIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(door)
		n := 0
		dial := func() error { n++; time.Sleep(time.Millisecond); return nil }
		for range 50 {
			if err := d.try(true, dial); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range 4 { // side by side, as a pool grows
			wg.Go(func() {
				if err := d.try(true, func() error { time.Sleep(time.Millisecond); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		replica := &notSentError{&weir.Error{Code: weir.CodeReadOnly}}
		if err := d.try(true, func() error { return replica }); err != replica {
			t.Error(err)
		}
		if err := d.try(true, dial); !errors.Is(err, replica) || !isHeld(err) {
			t.Errorf("%v, want to be told the same", err)
		}
		if err := d.try(false, dial); err != nil {
			t.Errorf("%v: who asks for the topology wants no primary", err)
		}
		time.Sleep(time.Second)
		if err := d.try(true, dial); err != nil {
			t.Error(err)
		}
	})
}

// After the first one that failed the second comes soon, and is left to who wants
// the data; the third does not, and after a rest there are two again.
func TestDoorBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(door)
		down := &notSentError{errors.New("down")}
		dials := func(primary bool) bool {
			made := false
			_ = d.try(primary, func() error { made = true; return down })
			return made
		}
		// next is when the next dial is made, in steps of 10 ms.
		next := func(primary bool) time.Duration {
			began := time.Now()
			for {
				may := d.mayDial(time.Now())
				if made := dials(primary); primary && made != may {
					t.Fatalf("a dial may be made: %v; it was: %v", may, made)
				} else if made {
					return time.Since(began)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		within := func(what string, got, least, most time.Duration) {
			t.Helper()
			if got < least || got > most+10*time.Millisecond {
				t.Errorf("%s: after %v, want %v to %v", what, got, least, most)
			}
		}
		const soonest, latest = dialSoon, dialSoon * 5 / 4
		within("the first", next(true), 0, 0)
		within("the second", next(true), soonest, latest)
		within("the third", next(true), dialGap, dialGap*6/5)
		within("who follows", next(false), dialRest, dialRest)
		within("the second after a rest", next(true), soonest, latest)
		time.Sleep(dialRest)
		within("after a rest", next(true), 0, 0)
		within("soon after", next(true), soonest, latest)
	})
}

// Real sockets: a server that takes connections and says nothing, and one that
// closes them. Callers come all the time.
func TestDialsAreBounded(t *testing.T) {
	for _, name := range []string{"silent", "closes"} {
		for mode, m := range map[string]Mode{"single": Single, "cluster": Cluster} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				var seen starts
				stop := make(chan struct{})
				addr := fakeServer(t, func(net.Conn) {
					seen.note()
					if name == "silent" {
						<-stop
					}
				})
				t.Cleanup(func() { close(stop) })
				s := open(t, Options{
					Addrs: []string{addr}, Mode: m, AllowDown: true,
					Deadline: 10 * time.Millisecond, ConnTimeout: 300 * time.Millisecond, Breaker: brisk,
				})
				d := startDrip(t, s, 8, 0, always("k", still(10)))
				const watched = 2200 * time.Millisecond
				time.Sleep(watched) // what does not happen has no event to wait for
				d.end()
				if d.decided.Load() > 0 {
					t.Errorf("%v by nobody", d)
				}
				seen.bounded(t, 50*time.Millisecond) // the kernel accepts a little later than it is dialled
				if n := len(seen.at); n < 3 {
					t.Errorf("%d dials in %v: it was given up", n, watched)
				}
			})
		}
	}
}
