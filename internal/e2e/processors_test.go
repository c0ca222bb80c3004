package e2e

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
)

// TestProcessors: a server with little to do has Go use few processors, but for a
// scrape; and what GOMAXPROCS says is not meddled with.
func TestProcessors(t *testing.T) {
	t.Parallel()
	all := runtime.GOMAXPROCS(0) // fewer than the machine's, in a container with a limit
	few := max(1, all/4)
	w := serve(t)
	await(t, "few processors", func() error {
		if n := gauge(w.metrics()["weir_processors"]); n != float64(few) {
			return fmt.Errorf("%v are enough, want %d", n, few)
		}
		return nil
	})
	if n := gauge(w.metrics()["go_sched_gomaxprocs_threads"]); n != float64(all) {
		t.Errorf("%v processors during a scrape, want all %d", n, all)
	}
	w.stop()

	fixed := newInstance(t)
	fixed.env = []string{"GOMAXPROCS=" + strconv.Itoa(few+2)}
	fixed.start()
	fixed.awaitReady()
	got := fixed.metrics()
	if n := gauge(got["go_sched_gomaxprocs_threads"]); n != float64(few+2) || got["weir_processors"] != nil {
		t.Errorf("%v processors, want the %d of GOMAXPROCS; weir_processors: %v", n, few+2, got["weir_processors"])
	}
}
