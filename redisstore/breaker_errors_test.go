package redisstore

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// What a server says is classified once, and then it is left alone: callers
// learn why from the first failures and from the cause of the refusals.
func TestBreakerClassifiedErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		code  weir.Code
		opts  []redistest.Option
		spoil func(srv *redistest.Server)
		mend  func(srv *redistest.Server)
	}{
		"oom": {
			code: weir.CodeOOM,
			spoil: func(srv *redistest.Server) {
				srv.ConfigSet("maxmemory-policy", "noeviction")
				srv.ConfigSet("maxmemory", "1")
			},
			mend: func(srv *redistest.Server) { srv.ConfigSet("maxmemory", "0") },
		},
		"readonly": {
			code:  weir.CodeReadOnly,
			spoil: func(srv *redistest.Server) { srv.MustDo("REPLICAOF", "127.0.0.1", "1") },
			mend:  func(srv *redistest.Server) { srv.MustDo("REPLICAOF", "NO", "ONE") },
		},
		"noperm": {
			code:  weir.CodeNoPerm,
			opts:  []redistest.Option{redistest.WithACL("weir on >first ~* -@all " + aclCommands)},
			spoil: func(srv *redistest.Server) { srv.MustDo("ACL", "SETUSER", "weir", "-evalsha") },
			mend:  func(srv *redistest.Server) { srv.MustDo("ACL", "SETUSER", "weir", "+evalsha") },
		},
		"noauth": {
			code: weir.CodeNoAuth,
			opts: []redistest.Option{redistest.WithACL("weir on >first ~* -@all " + aclCommands)},
			spoil: func(srv *redistest.Server) {
				srv.MustDo("ACL", "SETUSER", "weir", "<first", ">second")
				srv.MustDo("CLIENT", "KILL", "USER", "weir")
			},
			mend: func(srv *redistest.Server) { srv.MustDo("ACL", "SETUSER", "weir", ">first") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := redistest.Start(t, tc.opts...)
			o := Options{Addrs: []string{srv.Addr()}, Deadline: soon, Breaker: Breaker{MaxCooldown: 500 * time.Millisecond}}
			if tc.opts != nil {
				o.Credentials = Password("weir", "first")
			}
			var seen changes
			o.Hooks = seen.hooks()
			s := open(t, o)
			d := startDrip(t, s, 8, 0, always("k", still(1_000_000)))
			d.progress(t, 50)
			mark := seen.mark()
			tc.spoil(srv)
			seen.await(t, mark, weir.BreakerOpen)
			calls, dialled, from := srv.CommandStats()["evalsha"], connections(t, srv), time.Now()
			eventually(t, "two probes", func() error { return atLeast(int64(seen.count(mark, weir.BreakerHalfOpen)), 2) })
			elapsed := time.Since(from).Seconds()
			probes := int64(seen.count(mark, weir.BreakerHalfOpen))
			if d.of(tc.code) == 0 || d.causes[tc.code].Load() == 0 {
				t.Errorf("%v: nobody was told %s", d, tc.code)
			}
			// A probe that certainly did not run is sent again until its deadline,
			// with pauses of 5 ms and more.
			if n := srv.CommandStats()["evalsha"] - calls; n > 5*probes {
				t.Errorf("%d script calls for %d probes", n, probes)
			}
			// One that began before the breaker opened, and one that this test makes
			// to look.
			if n := connections(t, srv) - dialled; float64(n) > 2*(elapsed+1)+2 {
				t.Errorf("%d connections in %.1f s, want two a second at most", n, elapsed)
			}
			if n := seen.count(mark, weir.BreakerClosed); n > 0 {
				t.Errorf("it closed %d times", n)
			}
			tc.mend(srv)
			seen.await(t, mark, weir.BreakerClosed)
			d.progress(t, 20)
		})
	}
}

// A breaker is its shard's alone. An entry with a part on a shard that is left
// alone fails, and what its other parts charged is undone.
func TestBreakerCluster(t *testing.T) {
	c := startCluster(t, 3, 0)
	var seen changes
	s := open(t, func() Options {
		o := c.opts
		o.Deadline, o.ConnTimeout, o.Breaker = 2*soon, 500*time.Millisecond, brisk
		o.Hooks.Breaker = seen.hooks().Breaker
		return o
	}())
	m := still(1_000_000)
	dead, alive, both := c.on(t, 0), c.on(t, 1), c.on(t, 1)
	d := startDrip(t, s, 4, 0, always(dead, m))
	other := startDrip(t, s, 2, 0, always(alive, m))
	d.progress(t, 50)
	other.progress(t, 20)
	mark := seen.mark()
	c.Nodes()[0].Pause()
	seen.await(t, mark, weir.BreakerOpen)
	other.progress(t, 50)

	split := weir.Entry{Charges: []weir.Charge{{Key: both, Meter: m, Cost: 1}, {Key: dead, Meter: m, Cost: 1}}}
	refused := 0
	eventually(t, "a split entry that is refused", func() error {
		err := decide(s, split).Err
		if err == nil || weir.CodeOf(err) != weir.CodeBreaker {
			return err
		}
		refused++
		if e := err.(*weir.Error); !strings.Contains(e.Error(), "left alone") {
			t.Errorf("it says %q", e)
		}
		return nil
	})
	eventually(t, "the other part to be undone", wantUsed(t, s, both, m, 0))
	for _, ch := range seen.since(mark) {
		if ch.shard != c.Nodes()[0].Addr() {
			t.Errorf("the breaker of %s is %s", ch.shard, ch.state)
		}
	}
	c.Nodes()[0].Resume()
	d.progress(t, 20)
	d.end()
	other.end()
	admit(t, s, split)

	t.Run("a reshard elsewhere has it probe", func(t *testing.T) {
		o := c.opts
		o.Breaker = Breaker{Span: atOnce, Cooldown: time.Hour, MaxCooldown: time.Hour}
		s := open(t, o)
		breakNow(s, s.topo.Load().slots[s.slotOf(dead)])
		wantCode(t, decide(s, one(dead, m)).Err, weir.CodeBreaker)
		c.MigrateSlots(c.Nodes()[1], c.Nodes()[2], int(s.slotOf(c.on(t, 1))))
		eventually(t, "a probe", func() error { return decide(s, one(dead, m)).Err })
	})
}

// A probe is not failed because no dial is due: until one is there is none, and
// the cooldown does not double.
func TestBreakerWaitsForTheDial(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{
		Addrs: []string{srv.Addr()}, Deadline: generous, Hooks: seen.hooks(),
		Breaker: Breaker{Span: atOnce, Cooldown: 20 * time.Millisecond, MaxCooldown: time.Hour},
	})
	warm(t, s, srv)
	sh := s.topo.Load().shards[0]
	// The server is back, and the last dials were a moment too early for it.
	door := s.opts.dials.door(srv.Addr())
	sh.leave()
	for door.mayDial(time.Now()) {
		_ = door.try(true, func() error { return &notSentError{io.EOF} })
	}
	failed := time.Now()
	breakNow(s, sh)
	d := startDrip(t, s, 4, 0, always("k", still(1_000_000)))
	closed := seen.await(t, 0, weir.BreakerClosed)
	t.Logf("closed %v after the last dial", closed.at.Sub(failed))
	if took := seen.await(t, 0, weir.BreakerHalfOpen).at.Sub(failed); took < dialSoon {
		t.Errorf("a probe %v after the last dial, want none before %v", took, dialSoon)
	}
	if n := seen.count(0, weir.BreakerOpen); n != 1 {
		t.Errorf("it opened %d times: %v", n, seen.since(0))
	}
	d.progress(t, 20)
}

// What was away when the breaker opened, and certainly has not run, is not tried
// again: it is answered.
func TestBreakerNothingIsTriedAgain(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, Breaker: Breaker{Span: atOnce, Cooldown: time.Hour, MaxCooldown: time.Hour}})
	sh := s.topo.Load().shards[0]
	b := &weir.Batch{Entries: []weir.Entry{one("k", still(10))}}
	answered := make(chan error, 1)
	c := newCall(s, b, func(b *weir.Batch) { answered <- b.Entries[0].Err })
	it := &c.items[0]
	it.init(&b.Entries[0], c, s.now(), s.now()+generous)
	it.state.Store(flying)
	breakNow(s, sh)
	sh.again([]*item{it}, &weir.Error{Code: weir.CodeLoading})
	select {
	case err := <-answered:
		wantCode(t, err, weir.CodeBreaker)
	case <-time.After(generous / 2):
		t.Fatal("it waits to be tried again")
	}
	if n := srv.CommandStats()["evalsha"]; n != 0 {
		t.Errorf("%d script calls", n)
	}
}

// With a cooldown that would take far longer, a shard that is served by another
// node is asked as soon as that is known. On a machine so busy that the new node
// does not answer the first request in time, after that cooldown.
func TestBreakerFailover(t *testing.T) {
	late := Breaker{Span: atOnce, Cooldown: generous / 3, MaxCooldown: generous / 3}
	within := func(t *testing.T, since time.Time) {
		t.Helper()
		took := time.Since(since)
		t.Logf("decided %v after the promotion", took)
		if took > 2*time.Second && !raceEnabled {
			t.Errorf("decided %v after the promotion, want 2 s at most", took)
		}
	}
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := startCluster(t, 3, 3, redistest.WithConfig("cluster-node-timeout", "1000")) // ms
		o := c.opts
		var seen changes
		o.Deadline, o.ConnTimeout, o.Breaker = 2*soon, 500*time.Millisecond, late
		o.Hooks.Breaker = seen.hooks().Breaker
		s := open(t, o)
		k := c.on(t, 0)
		d := startDrip(t, s, 4, 0, always(k, still(1_000_000)))
		d.progress(t, 50)
		replica := c.ReplicasOf(c.Nodes()[0])[0]
		c.Nodes()[0].Stop()
		seen.await(t, 0, weir.BreakerOpen)
		c.AwaitPromotion(replica)
		promoted := time.Now()
		d.progress(t, 1)
		within(t, promoted)
		// Nobody's breaker is open now.
		if last := seen.since(0); last[len(last)-1].state != weir.BreakerClosed {
			t.Errorf("the last that was told of %s is %s", last[len(last)-1].shard, last[len(last)-1].state)
		}
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		st := redistest.StartSentinel(t, 3, 1)
		var seen changes
		s := open(t, Options{
			Addrs: st.Addrs(), Mode: Sentinel, MasterName: st.MasterName(),
			Deadline: 2 * soon, ConnTimeout: 500 * time.Millisecond, Breaker: late, Hooks: seen.hooks(),
		})
		d := startDrip(t, s, 4, 0, always("k", still(1_000_000)))
		d.progress(t, 50)
		old := st.Primary()
		old.Stop()
		seen.await(t, 0, weir.BreakerOpen)
		st.AwaitFailover(old)
		promoted := time.Now()
		d.progress(t, 1)
		within(t, promoted)
	})
}
