package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// manyRules is what the files of the reload test hold together.
const manyRules = 100_000

// deadline is that of the reload test's checks: what a gateway grants a limiter
// by default is 20 ms, and the machine of the tests has other work.
const deadline = 250 * time.Millisecond

// TestReloadUnderLoad swaps 100,000 rules for 100,000 others, as a Kubernetes
// volume is swapped, while clients ask without a pause. No decision takes longer
// than its deadline, and each is of one set: an answer's version and limit are
// always those of one generation.
func TestReloadUnderLoad(t *testing.T) {
	volume := t.TempDir()
	counts := []int64{1_000_001, 2_000_002, 3_000_003}
	for i, count := range counts {
		writeRules(t, filepath.Join(volume, fmt.Sprintf("..gen-%d", i)), count)
	}
	point(t, volume, "..gen-0")
	if err := os.Symlink("..data/policies", filepath.Join(volume, "policies")); err != nil {
		t.Fatal(err)
	}
	w := serve(t, "--config", filepath.Join(volume, "policies"), "--deadline", deadline.String())
	if got := w.config().Rules; got != manyRules {
		t.Fatalf("%d rules", got)
	}
	seen := &generations{limits: map[string]int64{}}
	quiet := seen.during(t, w, func(l *load) { l.awaitMore(2000) })
	reloads := seen.during(t, w, func(l *load) {
		for i := 1; i < len(counts); i++ {
			point(t, volume, fmt.Sprintf("..gen-%d", i))
			await(t, "the new rules to be served", func() error { l.check(); return seen.has(counts[i]) })
		}
	})
	if n := w.slower(t, deadline.Seconds()); n > 0 {
		t.Errorf("%d of %d decisions took longer than %v", n, w.decided(), deadline)
	}
	t.Logf("in the server, of %d decisions %d took longer than 10 ms, %d than 100 ms", w.decided(), w.slower(t, 0.01), w.slower(t, 0.1))
	if len(seen.limits) != len(counts) {
		t.Errorf("versions and their limits: %v", seen.limits)
	}
	t.Logf("at the client, without a reload: %s", quantiles(quiet))
	t.Logf("at the client, with two reloads: %s", quantiles(reloads))
}

// writeRules writes a directory of policies with a limit in common.
func writeRules(t *testing.T, dir string, count int64) {
	t.Helper()
	const files = 10
	if err := os.MkdirAll(filepath.Join(dir, "policies"), 0o700); err != nil {
		t.Fatal(err)
	}
	for f := range files {
		var b strings.Builder
		domain := "default"
		if f > 0 {
			domain = fmt.Sprint("domain-", f)
		}
		fmt.Fprintf(&b, "domain: %s\npolicies:\n", domain)
		for i := range manyRules / files {
			fmt.Fprintf(&b, "  - {id: p%d, match: {tenant: tenant-%d}, by: [tenant], limits: [%d/h], on_failure: open}\n", i, i, count)
		}
		if err := os.WriteFile(filepath.Join(dir, "policies", domain+".yaml"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// point swaps a volume's ..data, all at once, as the kubelet does.
func point(t *testing.T, volume, to string) {
	t.Helper()
	tmp := filepath.Join(volume, "..data_tmp")
	if err := os.Symlink(to, tmp); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(volume, "..data")); err != nil {
		t.Fatal(err)
	}
}

// generations is which versions were seen, each with its limit.
type generations struct {
	mu     sync.Mutex
	limits map[string]int64
	took   []time.Duration
}

// during does something under load and returns how long the calls took.
func (g *generations) during(t *testing.T, w *instance, do func(*load)) []time.Duration {
	t.Helper()
	g.took = nil
	l := &load{t: t, conn: dial(t, w.grpc), look: g.look}
	l.begin(4)
	do(l)
	l.stop()
	return g.took
}

func (g *generations) look(out *weirv1.CheckResponse, took time.Duration) error {
	if err := decidedByStore(out, took); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.took = append(g.took, took)
	limit := out.GetQuota().GetCount()
	if was, ok := g.limits[out.GetPolicyVersion()]; ok && was != limit {
		return fmt.Errorf("version %s has limit %d, and had %d", out.GetPolicyVersion(), limit, was)
	}
	g.limits[out.GetPolicyVersion()] = limit
	return nil
}

func (g *generations) has(limit int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, have := range g.limits {
		if have == limit {
			return nil
		}
	}
	return fmt.Errorf("limits seen: %v", g.limits)
}

func quantiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))] }
	return fmt.Sprintf("%d calls, median %v, p99 %v, p99.9 %v, slowest %v", len(took), at(0.5), at(0.99), at(0.999), at(1))
}
