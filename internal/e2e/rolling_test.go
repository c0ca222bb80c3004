package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// clientConfig is what docs/server.md tells clients of several instances to use.
const clientConfig = `{
  "loadBalancingConfig": [{"round_robin": {}}],
  "methodConfig": [{
    "name": [{}],
    "waitForReady": true,
    "retryPolicy": {
      "maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.1s", "backoffMultiplier": 2,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }]
}`

// TestRollingRestart restarts two instances in turn under a client that never
// stops asking. No call may fail, and none may be answered other than by the
// counters in Redis. The next instance is stopped once the last one is asked
// again, as an orchestrator waits for readiness.
func TestRollingRestart(t *testing.T) { onEachEngine(t, testRollingRestart) }

func testRollingRestart(t *testing.T) {
	rounds := 10
	if soak() {
		rounds = 100
	}
	redis := redistest.Start(t)
	config := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, config, "policies:\n  - {id: all, by: [tenant], limits: [10000000/d], on_failure: closed}\n")
	both := [2]*instance{}
	for i := range both {
		// The machine of the tests stalls for longer than a store ever should.
		both[i] = serve(t, "--config", config, "--redis", redis.Addr(), "--deadline", "5s")
	}
	l := startLoad(t, dial(t, both[0].grpc, both[1].grpc), 4)
	for _, w := range both {
		w.awaitDecided(0)
	}
	slowest := time.Duration(0)
	for range rounds {
		for _, w := range both {
			slowest = max(slowest, w.stop())
			l.awaitMore(100) // the other one serves alone
			w.start()
			w.awaitReady()
			w.awaitDecided(0)
			l.check()
		}
	}
	calls := l.stop()
	t.Logf("%d restarts under %d calls; the slowest stop took %v", 2*rounds, calls, slowest)
	if slowest > 5*time.Second {
		t.Errorf("a stop took %v: what was there to wait for?", slowest)
	}
}

// dial connects to all of the addresses, as one client.
func dial(t *testing.T, addrs ...string) *grpc.ClientConn {
	t.Helper()
	r := manual.NewBuilderWithScheme("weir")
	var state resolver.State
	for _, a := range addrs {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: a}}})
	}
	r.InitialState(state)
	conn, err := grpc.NewClient("weir:///both", grpc.WithResolvers(r),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(clientConfig),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second,
		}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// load is a client whose goroutines ask one after the other without a pause.
type load struct {
	t      *testing.T
	conn   *grpc.ClientConn
	look   func(*weirv1.CheckResponse, time.Duration) error // at answers; nil: they must be of the store
	calls  atomic.Int64
	failed atomic.Pointer[error]
	wg     sync.WaitGroup
	cancel context.CancelFunc
}

func startLoad(t *testing.T, conn *grpc.ClientConn, callers int) *load {
	l := &load{t: t, conn: conn}
	l.begin(callers)
	return l
}

func (l *load) begin(callers int) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.t.Cleanup(func() { cancel(); l.wg.Wait() })
	for i := range callers {
		l.wg.Go(func() { l.call(ctx, fmt.Sprint("tenant-", i)) })
	}
}

// call asks until it is told to stop, or something is wrong.
func (l *load) call(until context.Context, tenant string) {
	client := weirv1.NewLimiterClient(l.conn)
	in := &weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: tenant}}}
	look := l.look
	if look == nil {
		look = decidedByStore
	}
	for until.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		began := time.Now()
		out, err := client.Check(ctx, in)
		cancel()
		if err == nil {
			err = look(out, time.Since(began))
		}
		if err != nil {
			err = fmt.Errorf("call %d of all, at %v: %w", l.calls.Load(), time.Now(), err)
			l.failed.CompareAndSwap(nil, &err)
			return
		}
		l.calls.Add(1)
	}
}

func decidedByStore(out *weirv1.CheckResponse, _ time.Duration) error {
	if !out.GetAllowed() || out.GetSource() != weirv1.Source_SOURCE_STORE || out.GetReason() != weirv1.Reason_REASON_NONE {
		return fmt.Errorf("answered %v", out)
	}
	return nil
}

func (l *load) check() {
	l.t.Helper()
	if err := l.failed.Load(); err != nil {
		l.t.Fatalf("a call was lost: %v", *err)
	}
}

// awaitMore waits until n more calls were answered.
func (l *load) awaitMore(n int64) {
	l.t.Helper()
	goal := l.calls.Load() + n
	await(l.t, "calls to be answered", func() error {
		l.check()
		if l.calls.Load() < goal {
			return errors.New("too few are")
		}
		return nil
	})
}

// stop ends the load and returns how many calls were answered.
func (l *load) stop() int64 {
	l.t.Helper()
	l.cancel()
	l.wg.Wait()
	l.check()
	return l.calls.Load()
}
