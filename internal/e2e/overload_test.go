package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestOverload: of more checks than may wait for Redis the others are answered
// at once, each by its policy's on_failure and none by an error, and it is told.
func TestOverload(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testOverload)
}

func testOverload(t *testing.T) {
	const deadline = 2 * time.Second
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, modePolicies)
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", deadline.String(), "--max-in-flight", "1")
	w.check("reader") // connected
	redis.Pause()
	shed := func() (n float64) {
		for _, m := range w.metrics()["weir_degraded_total"].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" && l.GetValue() == "overload" {
					n += m.GetCounter().GetValue()
				}
			}
		}
		return n
	}
	var first sync.WaitGroup
	first.Go(func() { w.check("payer") }) // waits
	await(t, "a check that waits for Redis", func() error {
		if n := value(w.metrics()["weir_in_flight_checks"], ""); n != 1 {
			return fmt.Errorf("%v wait", n)
		}
		return nil
	})
	began := time.Now()
	for dimension, want := range map[string]int{"reader": http.StatusOK, "user": http.StatusOK, "payer": http.StatusServiceUnavailable} {
		if resp, body := w.check(dimension); resp.StatusCode != want || want == http.StatusOK && !strings.Contains(body, `"source":"backstop"`) {
			t.Errorf("%s: %d %s", dimension, resp.StatusCode, body)
		}
	}
	if took := time.Since(began); took > deadline/2 {
		t.Errorf("those that were kept out waited %v", took)
	}
	if n := shed(); n != 3 {
		t.Errorf("%v were counted as kept out, want 3", n)
	}
	await(t, "/readyz to tell it", func() error {
		if page := w.page("/readyz"); !strings.Contains(page, `"load: more requests than `) && !strings.Contains(page, `"store: `) {
			return fmt.Errorf("%s", page)
		}
		return nil
	})
	redis.Resume()
	first.Wait()
	await(t, "the store again", func() error {
		if resp, body := w.check("reader"); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"source":"store"`) {
			return fmt.Errorf("%d %s", resp.StatusCode, body)
		}
		return nil
	})
}
