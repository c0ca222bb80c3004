package latency

import (
	"math/bits"
	"time"
)

// subBits splits each power of two into 32 buckets, so that a quantile is
// within 1/64 of the truth when it is read from the middle of its bucket.
const (
	subBits = 5
	subs    = 1 << subBits
	// maxBits bounds a latency at 2^36 ns, 68 s; longer ones count as that.
	maxBits = 36
	buckets = (maxBits - subBits + 1) * subs
)

// Histogram counts latencies in buckets of equal relative width: 4 KiB, so
// that those of 128 callers leave room in the cache for what is measured. The
// zero value is empty.
type Histogram struct {
	counts [buckets]uint32
	total  uint64
	sum    time.Duration
	most   time.Duration
}

// Record counts one latency.
func (h *Histogram) Record(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.total++
	h.sum += d
	h.most = max(h.most, d)
}

// Count returns how many latencies were recorded.
func (h *Histogram) Count() uint64 { return h.total }

// Merge adds what o holds.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
	h.sum += o.sum
	h.most = max(h.most, o.most)
}

// Max returns the longest latency that was recorded, as it was.
func (h *Histogram) Max() time.Duration { return h.most }

// Mean returns the mean of those recorded, 0 when there are none.
func (h *Histogram) Mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	return h.sum / time.Duration(h.total)
}

// Quantile returns the latency that the share q (0 to 1) of those recorded do
// not exceed, 0 when there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := uint64(q * float64(h.total))
	rank = min(rank, h.total-1)
	seen := uint64(0)
	for i, n := range h.counts {
		seen += uint64(n)
		if seen > rank {
			return min(middleOf(i), h.most)
		}
	}
	return h.most
}

// Above returns how many were longer than d, to the width of a bucket.
func (h *Histogram) Above(d time.Duration) (n uint64) {
	for _, c := range h.counts[bucketOf(d)+1:] {
		n += uint64(c)
	}
	return n
}

// bucketOf: values below 32 ns have a bucket each; above, a bucket is the
// power of two and the five bits after the leading one.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v >= 1<<maxBits {
		return buckets - 1
	}
	if v < subs {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return (shift+1)<<subBits | int(v>>shift)&(subs-1)
}

func middleOf(bucket int) time.Duration {
	if bucket < subs {
		return time.Duration(bucket)
	}
	shift := bucket>>subBits - 1
	low := uint64(subs|bucket&(subs-1)) << shift
	return time.Duration(low + 1<<shift/2)
}
