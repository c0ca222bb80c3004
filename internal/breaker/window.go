package breaker

import "github.com/weirlimit/weir"

// The history is a ring of buckets of one second each: what is counted is the
// last 29 to 30 s.
const (
	buckets   = 30
	bucketFor = weir.Second
)

// window counts calls and failures over the last buckets x bucketFor.
type window struct {
	ring            [buckets]bucket
	at              int64 // number of the newest bucket, since the clock's zero
	calls, failures int64 // sums over the ring
}

type bucket struct{ calls, failures int64 }

// add counts calls at now, which is no earlier than the last time.
func (w *window) add(now weir.Micros, calls, failures int) {
	w.advance(int64(now / bucketFor))
	b := &w.ring[w.at%buckets]
	b.calls += int64(calls)
	b.failures += int64(failures)
	w.calls += int64(calls)
	w.failures += int64(failures)
}

// advance empties the buckets between the newest and number at.
func (w *window) advance(at int64) {
	if at-w.at >= buckets {
		*w = window{at: at}
		return
	}
	for w.at < at {
		w.at++
		b := &w.ring[w.at%buckets]
		w.calls -= b.calls
		w.failures -= b.failures
		*b = bucket{}
	}
}
