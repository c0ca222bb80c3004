package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
)

const clientPolicies = "policies:\n  - {id: one, by: [n], limits: [1/h], on_failure: open}\n"

// localEngine decides by the same policies in this process.
func localEngine(t *testing.T) *engine.Engine {
	t.Helper()
	return enginetest.New(t, clientPolicies, engine.Options{})
}

// TestClientOutlivesTheServer: package client under load, while its server is
// stopped (SIGSTOP), continued, killed (SIGKILL), started again and shut down in
// good order: each check is answered by its deadline, and by the server again
// when there is one. Each has a counter of its own, so that one sent twice would
// be denied.
func TestClientOutlivesTheServer(t *testing.T) { onEachEngine(t, testClientOutlivesTheServer) }

func testClientOutlivesTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.yaml")
	write(t, file, clientPolicies)
	w := serve(t, "--config", file)
	const deadline = 100 * time.Millisecond
	c, err := client.New(w.grpc, client.WithDeadline(deadline), client.WithFallback(localEngine(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	var n, there, here, slowest atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			r := &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "n"}}}}}
			var d weir.Decision
			for {
				select {
				case <-stop:
					return
				default:
				}
				r.Descriptors[0].Pairs[0].Value = strconv.FormatInt(n.Add(1), 10)
				began := time.Now()
				if err := c.Check(t.Context(), r, &d); err != nil || !d.Allowed() {
					t.Errorf("%+v, %v", d, err)
					return
				}
				took := int64(time.Since(began))
				for old := slowest.Load(); took > old && !slowest.CompareAndSwap(old, took); old = slowest.Load() {
				}
				if d.Source == weir.SourceStore {
					there.Add(1)
				} else {
					here.Add(1)
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	more := func(what string, count *atomic.Int64) {
		was := count.Load()
		await(t, what, func() error {
			if now := count.Load(); now < was+300 {
				return fmt.Errorf("%d since", now-was)
			}
			return nil
		})
	}
	more("answers of the server", &there)
	w.signal(syscall.SIGSTOP)
	more("answers of the fallback, of a server that hangs", &here)
	w.signal(syscall.SIGCONT)
	more("answers of the server that went on", &there)
	w.signal(syscall.SIGKILL)
	more("answers of the fallback, of a server that was killed", &here)
	<-w.ended
	w.start()
	w.awaitReady()
	more("answers of the server that came back", &there)
	if took := w.stop(); took > 10*time.Second {
		t.Errorf("the client kept the server from shutting down for %v", took)
	}
	more("answers of the fallback, of a server that left", &here)
	close(stop)
	callers.Wait()
	if got := time.Duration(slowest.Load()); got > deadline+500*time.Millisecond {
		t.Errorf("the slowest took %v", got)
	}
	t.Logf("%d checks: %d by the server, %d by the fallback, the slowest in %v", n.Load(), there.Load(), here.Load(), time.Duration(slowest.Load()))
}
