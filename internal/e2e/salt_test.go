package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// The addresses of the callers: one that never stops asking, and one that is
// silent while the salts change.
const (
	busyIP  = "203.0.113.77"
	quietIP = "2001:db8::77"
)

// rotatedLimits are limits by address; each must end as if it had one counter.
const rotatedLimits = `policies:
  - {id: bucket, by: [ip], limits: [5/s burst 150], on_failure: closed}
  - {id: sliding, by: [ip], limits: [400/h], on_failure: closed}
  - {id: fixed, by: [ip], limits: [400/%s fixed_window], on_failure: closed}
`

// TestSaltRotationUnderLoad rotates the salts of two instances under callers
// that never stop. No counter starts again, and nobody gets a second allowance:
// what is admitted stays within one counter's bound, what remains never rises
// but by the refill, and an address that was silent meanwhile is known again.
func TestSaltRotationUnderLoad(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	dir := t.TempDir()
	salts, config := filepath.Join(dir, "salts.yaml"), filepath.Join(dir, "policies.yaml")
	runWeir(t, "salt", "new", "--overlap", "2s", "--retention", "13h", salts)
	write(t, config, fmt.Sprintf(rotatedLimits, openWindow(time.Now())))
	both := [2]*instance{}
	var conns []*grpc.ClientConn
	for i := range both {
		both[i] = serve(t, "--config", config, "--redis", redis.Addr(), "--salt-file", salts, "--deadline", "5s")
		conns = append(conns, dial(t, both[i].grpc))
	}
	counters := []*watched{newWatched("bucket", 150, 5), newWatched("sliding", 400, 0), newWatched("fixed", 400, 0)}
	for _, c := range counters {
		for range 5 {
			if out := askIP(t, conns[0], c.policy, quietIP); !out.GetAllowed() {
				t.Fatalf("%s: %v", c.policy, out)
			}
		}
	}
	stop := watch(t, counters, conns)
	for _, c := range counters {
		c.await(t, "some requests", func() bool { return c.admitted >= 10 })
	}
	runWeir(t, "salt", "rotate", "--in", "6s", salts)
	for _, w := range both {
		await(t, "the next salt to be read", w.err.has("a salt is to come into force"))
	}
	turn := lastFrom(t, salts)
	noAddresses(t, redis)
	for _, c := range counters { // until the overlap is over, and all is spent
		c.await(t, "the rotation", func() bool { return time.Since(turn) > 3*time.Second && c.denied >= 20 })
	}
	stop()
	noAddresses(t, redis)
	for _, c := range counters {
		c.judge(t)
		if out := askIP(t, conns[1], c.policy, quietIP); c.rate == 0 && out.GetRemaining() != c.limit-6 {
			t.Errorf("%s: %d remain to who was silent, want %d", c.policy, out.GetRemaining(), c.limit-6)
		}
	}
	for _, w := range both {
		for what, text := range map[string]string{"log": w.err.String(), "metrics": w.page("/metrics"), "stats": w.page("/stats")} {
			if strings.Contains(text, busyIP) || strings.Contains(text, quietIP) {
				t.Errorf("an address is in the %s:\n%s", what, text)
			}
		}
		if strings.Contains(w.err.String(), "counted in two") {
			t.Error("an instance read of the salt too late: the machine is too busy for this test")
		}
	}
}

// openWindow is a window that does not end during the test.
func openWindow(now time.Time) string {
	for _, hours := range []int64{1, 5, 7, 11} {
		if span := hours * 3600; span-now.Unix()%span > 300 {
			return fmt.Sprintf("%dh", hours)
		}
	}
	return "13h" // all of them end together once in years
}

// runWeir runs the program and returns what it prints.
func runWeir(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("weir %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// lastFrom is when the last salt of a file comes into force.
func lastFrom(t *testing.T, path string) time.Time {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(runWeir(t, "salt", "list", path)), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	at, err := time.Parse(time.RFC3339, fields[1])
	if err != nil || fields[2] != "next" {
		t.Fatalf("%q: %v", fields, err)
	}
	return at
}

func askIP(t *testing.T, conn *grpc.ClientConn, policy, ip string) *weirv1.CheckResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := weirv1.NewLimiterClient(conn).Check(ctx, &weirv1.CheckRequest{
		Domain: "default", Policy: policy, Dimensions: []*weirv1.Dimension{{Name: "ip", Value: ip}},
	})
	if err != nil || out.GetSource() != weirv1.Source_SOURCE_STORE {
		t.Fatalf("%s: %v %v", policy, out, err)
	}
	return out
}

// noAddresses fails the test when an address is in Redis, in a key or in a value.
func noAddresses(t *testing.T, redis *redistest.Server) {
	t.Helper()
	found := 0
	for cursor := "0"; ; {
		reply, _ := redis.MustDo("SCAN", cursor, "COUNT", "1000").([]any)
		if len(reply) != 2 {
			t.Fatalf("SCAN answers %v", reply)
		}
		keys, _ := reply[1].([]any)
		for _, key := range keys {
			name := fmt.Sprint(key)
			found++
			if text := name + fmt.Sprint(redis.MustDo("DUMP", name)); strings.Contains(text, busyIP) || strings.Contains(text, quietIP) {
				t.Errorf("an address is in Redis: %q", text)
			}
		}
		if cursor = fmt.Sprint(reply[0]); cursor == "0" {
			break
		}
	}
	if found < 5 {
		t.Errorf("%d keys are in Redis: the test looks in the wrong place", found)
	}
}

// watched is a counter as its callers see it.
type watched struct {
	policy      string
	limit, rate int64 // burst or count; units a second that come back
	began       time.Time

	mu               sync.Mutex
	admitted, denied int
	low              float64 // the least that remained, less what has come back since
	failed           error
}

func newWatched(policy string, limit, rate int64) *watched {
	return &watched{policy: policy, limit: limit, rate: rate, low: float64(limit), began: time.Now()}
}

// refilled is what can have come back until at.
func (w *watched) refilled(at time.Time) float64 { return float64(w.rate) * at.Sub(w.began).Seconds() }

// watch sends callers, two of each instance for each counter. They take their
// time: the counters are to last until the rotation.
func watch(t *testing.T, counters []*watched, conns []*grpc.ClientConn) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	for _, w := range counters {
		for i := range 4 {
			wg.Go(func() { w.call(ctx, weirv1.NewLimiterClient(conns[i%len(conns)])) })
		}
	}
	return stop
}

func (w *watched) call(until context.Context, client weirv1.LimiterClient) {
	in := &weirv1.CheckRequest{Domain: "default", Policy: w.policy, Dimensions: []*weirv1.Dimension{{Name: "ip", Value: busyIP}}}
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-until.Done():
			return
		case <-pace.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		w.mu.Lock()
		low, sent := w.low, time.Now()
		w.mu.Unlock()
		out, err := client.Check(ctx, in)
		cancel()
		w.seen(out, err, low, sent)
	}
}

// seen takes an answer down. low is the least that was known to remain when the
// request was sent: more than that can only have been refilled.
func (w *watched) seen(out *weirv1.CheckResponse, err error, low float64, sent time.Time) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	remaining := float64(out.GetRemaining())
	switch {
	case err != nil:
	case out.GetSource() != weirv1.Source_SOURCE_STORE && (out.GetAllowed() || out.GetSource() != weirv1.Source_SOURCE_DENY_CACHE):
		err = fmt.Errorf("answered %v", out)
	case remaining-w.refilled(now) > low+1:
		err = fmt.Errorf("%v remain at %v, where %.1f did", remaining, now, low+w.refilled(now))
	}
	if err != nil {
		w.failed = errors.Join(w.failed, err)
		return
	}
	w.low = min(w.low, remaining-w.refilled(sent))
	if out.GetAllowed() {
		w.admitted++
	} else {
		w.denied++
	}
}

func (w *watched) await(t *testing.T, what string, f func() bool) {
	t.Helper()
	await(t, what, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.failed != nil {
			t.Fatalf("%s: %v", w.policy, w.failed)
		}
		if !f() {
			return fmt.Errorf("%s: %d admitted, %d denied", w.policy, w.admitted, w.denied)
		}
		return nil
	})
}

// judge compares what was admitted with the bound of one counter.
func (w *watched) judge(t *testing.T) {
	t.Helper()
	most := w.limit + int64(w.refilled(time.Now()))
	t.Logf("%s: %d admitted of at most %d, %d denied", w.policy, w.admitted, most, w.denied)
	if got := int64(w.admitted); got > most || w.rate == 0 && got != w.limit {
		t.Errorf("%s: %d admitted, one counter has %d", w.policy, got, most)
	}
	if w.failed != nil {
		t.Errorf("%s: %v", w.policy, w.failed)
	}
}
