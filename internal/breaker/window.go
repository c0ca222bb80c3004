package breaker

import "github.com/weirlimit/weir"

// The history is a ring of buckets of one second each: what is counted is the
// last 29 to 30 s.
const (
	buckets   = 30
	bucketFor = weir.Second
)

// window counts calls over the last buckets x bucketFor.
type window struct {
	ring [buckets]bucket
	at   int64  // number of the newest bucket, since the clock's zero
	sum  bucket // of the ring
}

type bucket struct {
	calls, failures int64
	weight          int64 // of the failures: see Count
}

func (b *bucket) add(o bucket) {
	b.calls += o.calls
	b.failures += o.failures
	b.weight += o.weight
}

// add counts calls at now, which is no earlier than the last time.
func (w *window) add(now weir.Micros, b bucket) {
	w.advance(int64(now / bucketFor))
	w.ring[w.at%buckets].add(b)
	w.sum.add(b)
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
		w.sum.add(bucket{-b.calls, -b.failures, -b.weight})
		*b = bucket{}
	}
}
