package client_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
)

// slack is what a busy machine may add to a deadline.
const slack = 500 * time.Millisecond

// blocker is a server that takes checks and answers none until it is told to.
func blocker(t testing.TB) (s *server, unblock func()) {
	t.Helper()
	hold := make(chan struct{})
	batch := func(s weirv1.Limiter_CheckBatchServer) error {
		for {
			in, err := s.Recv()
			if err != nil {
				return nil
			}
			select {
			case <-hold:
			case <-s.Context().Done():
				return nil
			}
			out := &weirv1.CheckBatchResponse{}
			for _, c := range in.GetChecks() {
				out.Results = append(out.Results, &weirv1.CheckResponse{Number: c.GetNumber(), Code: weirv1.Code_CODE_OK, Allowed: true})
			}
			if err := s.Send(out); err != nil {
				return err
			}
		}
	}
	var once sync.Once
	return serveAs(t, &scripted{batch: batch}), func() { once.Do(func() { close(hold) }) }
}

// TestDeadlineIsKept: a server that hangs holds nobody past the deadline, be it
// the client's, the request's or the context's.
func TestDeadlineIsKept(t *testing.T) {
	s, _ := blocker(t)
	var l losses
	c := dial(t, s, client.WithDeadline(40*time.Millisecond), client.WithHooks(l.hooks()), client.WithFailMode(client.FailClosed))
	for name, tc := range map[string]struct {
		of, in time.Duration // the request's and the context's
		least  time.Duration
	}{
		"the client's":  {0, 0, 30 * time.Millisecond},
		"the request's": {20 * time.Millisecond, 0, 15 * time.Millisecond},
		"the context's": {0, 12 * time.Millisecond, 8 * time.Millisecond},
		"past":          {-time.Second, 0, 0},
	} {
		r, ctx := ask("tenant", "a"), t.Context()
		began := time.Now()
		if tc.of != 0 {
			r.Deadline = began.Add(tc.of)
		}
		own := r.Deadline
		if tc.in != 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, tc.in)
			defer cancel()
		}
		var d weir.Decision
		err := c.Check(ctx, r, &d)
		took := time.Since(began)
		if err != nil || d.Verdict != weir.Deny || d.Reason != weir.ReasonDegraded || d.Source != weir.SourceBackstop || d.RetryAfter <= 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if took < tc.least || took > tc.least+slack || !r.Deadline.Equal(own) {
			t.Errorf("%s: took %v", name, took)
		}
		if err := submit(t.Context(), c, r, &d); err != nil || d.Reason != weir.ReasonDegraded {
			t.Errorf("%s, submitted: %+v, %v", name, d, err)
		}
	}
	if l.degradedBy(weir.CodeTimeout) != 8 {
		t.Errorf("degraded %v", l.degraded)
	}
}

// TestNobodyWaitsForWhoDoesNotAnswer: after a number of checks without an answer
// the others are not kept waiting; when the server is back, so is the client, and
// late answers are dropped and counted.
func TestNobodyWaitsForWhoDoesNotAnswer(t *testing.T) {
	s, unblock := blocker(t)
	defer unblock()
	var l losses
	local := decider(t, tenants, weir.Hooks{})
	c := dial(t, s, client.WithHooks(l.hooks()), client.WithFallback(local))
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { check(t, c, ask("nobody", "x")) })
	}
	wg.Wait()
	const many = 1000
	began := time.Now()
	for range many {
		if d := check(t, c, ask("nobody", "x")); d.Source != weir.SourceBackstop {
			t.Fatalf("got %+v", d)
		}
	}
	if took := time.Since(began); took > many*25*time.Millisecond/5 {
		t.Errorf("%d checks took %v: they waited", many, took)
	}
	unblock()
	reach(t, c, ask("nobody", "x"))
	if l.lost(weir.LossLateAnswer) < 32 {
		t.Errorf("late answers: %d", l.lost(weir.LossLateAnswer))
	}
}

// timed is a fallback that notes until when it may take.
type timed struct {
	weir.Checker
	until time.Time
}

func (f *timed) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	f.until = r.Deadline
	r.Deadline = time.Time{} // this test is not about being quick
	return f.Checker.Check(ctx, r, d)
}

// TestFallbackHasTime, also when the deadline has passed before anybody looked:
// a decision takes microseconds, and a fail mode is none.
func TestFallbackHasTime(t *testing.T) {
	s, _ := blocker(t)
	f := &timed{Checker: decider(t, tenants, weir.Hooks{})}
	c := dial(t, s, client.WithFallback(f))
	r, began := ask("tenant", "a"), time.Now()
	r.Deadline = began.Add(-time.Second)
	if d := check(t, c, r); d.Rule != "tenants" || d.Remaining != 2 {
		t.Errorf("got %+v", d)
	}
	if f.until.Before(began.Add(time.Millisecond)) {
		t.Errorf("it was given %v", f.until.Sub(began))
	}
	if want := began.Add(-time.Second); !r.Deadline.Equal(want) {
		t.Errorf("the request's deadline is now %v", r.Deadline)
	}
}

// TestOverload: more than may be outstanding are answered at once.
func TestOverload(t *testing.T) {
	s, unblock := blocker(t)
	defer unblock()
	var l losses
	c := dial(t, s, client.WithMaxOutstanding(2), client.WithDeadline(patience), client.WithHooks(l.hooks()))
	var wg sync.WaitGroup
	wg.Add(2)
	for range 2 {
		c.Submit(ask("tenant", "a"), new(weir.Decision), func(error) { wg.Done() })
	}
	if d := check(t, c, ask("tenant", "a")); d.Reason != weir.ReasonDegraded || l.degradedBy(weir.CodeOverload) != 1 {
		t.Errorf("the third: %+v, %v", d, l.degraded)
	}
	unblock()
	wg.Wait()
}

// TestServerKilledUnderLoad: every check is answered, by its deadline, while the
// server is killed and started again, twice; nothing that may have been decided
// is sent again: every check has a counter of its own with room for one, so a
// second charge would be denied.
func TestServerKilledUnderLoad(t *testing.T) {
	const policies = "policies:\n  - {id: one, by: [n], limits: [1/h], on_failure: open}\n"
	var charged, doubled atomic.Int64
	there := decider(t, policies, weir.Hooks{Decided: func(_ *weir.Request, d *weir.Decision, _ time.Duration) {
		if charged.Add(1); !d.Allowed() {
			doubled.Add(1)
		}
	}})
	s := serve(t, there)
	var l losses
	const deadline = 200 * time.Millisecond
	c := dial(t, s, client.WithDeadline(deadline), client.WithHooks(l.hooks()), client.WithFallback(decider(t, policies, weir.Hooks{})))

	var n, remote, local atomic.Int64
	var slowest atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			var d weir.Decision
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if err := c.Check(context.Background(), ask("n", strconv.FormatInt(n.Add(1), 10)), &d); err != nil || !d.Allowed() {
					t.Errorf("%+v, %v", d, err)
					return
				}
				took := int64(time.Since(began))
				for old := slowest.Load(); took > old && !slowest.CompareAndSwap(old, took); old = slowest.Load() {
				}
				if d.Source == weir.SourceStore {
					remote.Add(1)
				} else {
					local.Add(1)
					time.Sleep(time.Millisecond) // there is no need to fill memory
				}
			}
		})
	}
	for range 2 {
		was := remote.Load()
		await(t, "answers of the server", func() bool { return remote.Load() > was+500 })
		s.stop()
		was = local.Load()
		await(t, "answers of the fallback", func() bool { return local.Load() > was+50 })
		s.start()
	}
	was := remote.Load()
	await(t, "answers of the server, again", func() bool { return remote.Load() > was+500 })
	close(stop)
	wg.Wait()
	if doubled.Load() != 0 {
		t.Errorf("%d checks were charged twice", doubled.Load())
	}
	// What was charged and is not known to be is no more than what was said to
	// be uncertain or late.
	if hidden := charged.Load() - remote.Load(); hidden < 0 || hidden > int64(l.lost(weir.LossUncertain)+l.lost(weir.LossLateAnswer)) {
		t.Errorf("charged %d, answered %d, lost %v", charged.Load(), remote.Load(), l.n)
	}
	if got := time.Duration(slowest.Load()); got > deadline+slack {
		t.Errorf("the slowest took %v", got)
	}
	t.Logf("%d checks: %d by the server, %d by the fallback; lost %v; slowest %v", n.Load(), remote.Load(), local.Load(), l.n, time.Duration(slowest.Load()))
}

// TestServerLeavesInGoodOrder: a graceful stop loses nothing, uncertain or late,
// and does not wait for the client to leave.
func TestServerLeavesInGoodOrder(t *testing.T) {
	s := serve(t, decider(t, tenants, weir.Hooks{}))
	var l losses
	c := dial(t, s, client.WithDeadline(patience), client.WithHooks(l.hooks()))
	reach(t, c, ask("nobody", "x"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if d := check(t, c, ask("nobody", "x")); d.Source != weir.SourceStore {
					time.Sleep(time.Millisecond) // leave the machine to who reconnects
				}
			}
		})
	}
	s.grpc.GracefulStop()
	await(t, "the fallback", func() bool { return l.degradedBy(weir.CodeRefused) > 0 })
	s.start()
	reach(t, c, ask("nobody", "x"))
	close(stop)
	wg.Wait()
	if l.lost(weir.LossUncertain)+l.lost(weir.LossLateAnswer) > 0 {
		t.Errorf("lost %v", l.n)
	}
}

// TestServerThatIsNone: one without the service is one that is away.
func TestServerThatIsNone(t *testing.T) {
	s := serveAs(t, &weirv1.UnimplementedLimiterServer{})
	c := dial(t, s)
	for range 20 {
		if d := check(t, c, ask("tenant", "a")); !d.Allowed() || d.Reason != weir.ReasonDegraded || d.Source != weir.SourceBackstop {
			t.Fatalf("got %+v", d)
		}
	}
}

// plain is a checker and nothing more.
type plain struct{ weir.Checker }

// TestFallbacks: whichever kind of checker it is, and whoever asks.
func TestFallbacks(t *testing.T) {
	s := serve(t, decider(t, tenants, weir.Hooks{}))
	s.stop()
	for name, local := range map[string]func() weir.Checker{
		"async": func() weir.Checker { return decider(t, tenants, weir.Hooks{}) },
		"plain": func() weir.Checker { return plain{decider(t, tenants, weir.Hooks{})} },
	} {
		c := dial(t, s, client.WithFallback(local()), client.WithDeadline(patience))
		for i := range 4 {
			var d weir.Decision
			var err error
			if i%2 == 0 {
				err = c.Check(t.Context(), ask("tenant", "a"), &d)
			} else {
				err = submit(t.Context(), c, ask("tenant", "a"), &d)
			}
			if err != nil || d.Allowed() != (i < 3) || d.Source != weir.SourceBackstop || d.Rule != "tenants" {
				t.Errorf("%s %d: %+v, %v", name, i, d, err)
			}
			if reason := map[bool]weir.Reason{true: weir.ReasonDegraded, false: weir.ReasonExhausted}[d.Allowed()]; d.Reason != reason {
				t.Errorf("%s %d: reason %v", name, i, d.Reason)
			}
		}
		var d weir.Decision
		r := ask("tenant", "a")
		r.Policy = "nosuch"
		if err := c.Check(t.Context(), r, &d); weir.CodeOf(err) != weir.CodePolicyNotFound {
			t.Errorf("%s: a mistake is one here too: %v", name, err)
		}
	}
}
