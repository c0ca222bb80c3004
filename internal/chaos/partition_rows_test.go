//go:build !race && linux

package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// partition cuts the link between weir and Redis: no packet arrives, and nobody
// is told. Who dials gets no answer either, so dials are counted.
func partition(t testing.TB, f form) *outcome {
	n := newNamespace(t)
	s := redistest.Start(t, redistest.WithConfig("bind", "127.0.0.1", n.outer[1]), redistest.WithConfig("protected-mode", "no"))
	w := serve(t, launch{
		in: n.in(), host: n.inner[0],
		args: []string{"--redis", fmt.Sprintf("%s:%d", n.outer[1], s.Port())},
	})
	w.awaitReady()
	r := newRig(t, f, w)
	r.load()
	before := r.mark("link down")
	n.cut()
	r.awaitDegraded()
	first, began := dials(t, w.proc.Pid()), time.Now()
	r.hold(f.fault)
	span := time.Since(began)
	dialled := dials(t, w.proc.Pid()) - first
	during := r.mark("link up")
	n.heal()
	back := time.Now()
	r.awaitBack()
	j := r.end("partition")
	j.felt(before, during)
	j.inTime("while cut", before, during)
	j.inTime("afterwards", during, j.last)
	j.note("%.1f dials a second", float64(dialled)/span.Seconds())
	// One node. One dial more than that may fall into a stretch that begins with
	// one.
	if most := 2*span.Seconds() + 1; float64(dialled) > most {
		t.Errorf("%d dials in %v, want at most %.0f", dialled, span, most)
	}
	j.note("store-backed %v after the link was", j.backWithin(back, lookAgain+recovery).Round(10*time.Millisecond))
	j.within(1)
	j.unleaked(before)
	return j.out
}
