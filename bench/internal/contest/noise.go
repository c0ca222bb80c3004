package contest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/latency"
)

// nap is what the plain timer waits for.
const nap = time.Millisecond

// noise is how late a plain timer fires in this process: what the machine adds
// to a latency by itself.
type noise struct {
	over atomic.Bool
	done sync.WaitGroup
	late latency.Histogram
}

// listen measures until the returned function is called, which tells.
func listen() func() *latency.Histogram {
	n := &noise{}
	n.done.Go(func() {
		sleep, free := doze()
		defer free()
		for !n.over.Load() {
			from := time.Now()
			sleep(nap)
			n.late.Record(max(time.Since(from)-nap, 0))
		}
	})
	return func() *latency.Histogram {
		n.over.Store(true)
		n.done.Wait()
		return &n.late
	}
}
