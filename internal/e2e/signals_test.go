package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
	"google.golang.org/grpc"
)

const closedPolicy = "policies:\n  - {id: p, by: [tenant], limits: [%d/h], on_failure: %s}\n"

// TestTermFinishesCalls: a call that waits for the store when SIGTERM comes gets
// its answer, from the store, while nobody new is let in.
func TestTermFinishesCalls(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testTermFinishesCalls)
}

func testTermFinishesCalls(t *testing.T) {
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 9, "closed"))
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "10s")
	conn := dial(t, w.grpc)
	ask(t, conn) // connects
	redis.Pause()
	answers := make(chan error, 1)
	go func() {
		out, err := check(conn)
		if err == nil {
			err = decidedByStore(out, 0)
		}
		answers <- err
	}()
	await(t, "the call to be under way", func() error {
		if gauge(w.metrics()["weir_in_flight_checks"]) != 1 {
			return fmt.Errorf("no check waits for the store")
		}
		return nil
	})
	began := time.Now()
	w.signal(syscall.SIGTERM)
	await(t, "new connections to be refused", func() error {
		c, err := net.Dial("tcp", w.grpc)
		if err == nil {
			_ = c.Close()
			return fmt.Errorf("%s still accepts", w.grpc)
		}
		return nil
	})
	select {
	case <-w.ended:
		t.Fatal("it ended with a call under way")
	case err := <-answers:
		t.Fatalf("answered without its store: %v", err)
	default:
	}
	redis.Resume()
	if err := <-answers; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	t.Logf("ended after %v", w.awaitEnd(began))
}

// TestTermDoesNotWaitForever: a client that never finishes does not keep the
// process past what --drain allows.
func TestTermDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testTermDoesNotWaitForever)
}

func testTermDoesNotWaitForever(t *testing.T) {
	w := serve(t, "--drain", "100ms")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stream, err := weirv1.NewLimiterClient(dial(t, w.grpc)).CheckBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := &weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{{Domain: "default", Number: 1}}}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	t.Logf("ended after %v", w.stop())
}

// TestHangupReloads: SIGHUP reads the files, and tells the outcome even when it
// is what was.
func TestHangupReloads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 11, "open"))
	w := serve(t, "--config", path)
	before := w.config()
	w.signal(syscall.SIGHUP)
	await(t, "the files to be read again", func() error {
		if c := w.config(); !c.LoadedAt.After(before.LoadedAt) {
			return fmt.Errorf("read at %v", c.LoadedAt)
		}
		return nil
	})
	write(t, path, fmt.Sprintf(closedPolicy, 22, "open"))
	w.signal(syscall.SIGHUP)
	w.awaitLimit("22/h")
}

// TestConfigMapSwap: a volume is swapped under a named file.
func TestConfigMapSwap(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	for i, limit := range []int{11, 22} {
		gen := filepath.Join(volume, fmt.Sprintf("..gen-%d", i))
		if err := os.Mkdir(gen, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(gen, "policies.yaml"), fmt.Sprintf(closedPolicy, limit, "open"))
	}
	point(t, volume, "..gen-0")
	if err := os.Symlink("..data/policies.yaml", filepath.Join(volume, "policies.yaml")); err != nil {
		t.Fatal(err)
	}
	file, dir := serve(t, "--config", filepath.Join(volume, "policies.yaml")), serve(t, "--config", volume)
	for _, w := range []*instance{file, dir} {
		w.awaitLimit("11/h")
	}
	point(t, volume, "..gen-1")
	for _, w := range []*instance{file, dir} {
		w.awaitLimit("22/h")
	}
}

// TestMistypedFlag: what was meant is named, and the exit code tells scripts
// that nothing was tried.
func TestMistypedFlag(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve --confg x":             "did you mean --config?",
		"serve --compat nginx":        "use envoy, or leave it out",
		"serve --redis u:p@host:6379": "WEIR_REDIS_PASSWORD",
		"serve extra":                 "",
	} {
		out, err := exec.Command(binary, strings.Fields(args)...).CombinedOutput()
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), want) {
			t.Errorf("weir %s: %v\n%s", args, err, out)
		}
	}
}

// awaitLimit waits until a check is under this limit.
func (w *instance) awaitLimit(limit string) {
	w.t.Helper()
	w.awaitLimitOver(dial(w.t, w.grpc), limit)
}

// awaitLimitOver is awaitLimit over a connection that is there.
func (w *instance) awaitLimitOver(conn *grpc.ClientConn, limit string) {
	w.t.Helper()
	await(w.t, "the limit "+limit, func() error {
		if out := ask(w.t, conn); out.GetQuota().GetLimit() != limit {
			return fmt.Errorf("it is %v", out)
		}
		return nil
	})
}
