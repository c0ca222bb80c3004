package obs

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// histogram counts values in fixed buckets, and adds them up.
//
// To observe takes one atomic addition and hardly a search: few bounds, mostly
// one, lie among the numbers of one bit length.
// A cell holds both the count and the sum of what fell into its bucket since
// they were last moved to the totals: by a scrape, or, if none comes, by who
// finds the cell half full.
//
//	cell: | sum, 42 bits | count, 22 bits |
type histogram struct {
	bounds  []int64 // inclusive, ascending; the last is for all the rest
	first   [65]uint8
	scale   float64 // what 1 of the exported unit is in observed ones
	stripes []stripe

	totals [maxBuckets]struct{ n, sum atomic.Uint64 } // only grow
}

// stripe is a part of the counts: three cache lines.
type stripe [maxBuckets]atomic.Uint64

type tally struct{ n, sum uint64 }

const (
	maxBuckets = 24
	countBits  = 22
	// maxValue is 4.3 s in nanoseconds. Of values this large it takes 512, all
	// added before the first who does so moves them, to overflow a cell.
	maxValue = 1<<32 - 1
	// halfFull are the top bits of the sum, 37 minutes, and of the count.
	halfFull = 1<<63 | 1<<(countBits-1)
)

// shape is the bounds of a histogram, and its unit.
type shape struct {
	bounds []int64
	scale  float64
}

// Durations from what memory takes to what a caller waits for. The bounds have
// the numbers that are promised: 500 us of script time, a deadline of 10 ms, and
// 5 ms more, or 50 on a busy machine, in which it is kept.
var durations = shape{scale: float64(time.Second), bounds: []int64{
	1e3, 2500, 5e3, 1e4, 25e3, 5e4, 1e5, 25e4, 5e5, // to 500 us
	1e6, 25e5, 5e6, 1e7, 15e6, 25e6, 5e7, 6e7, 1e8, 25e7, 5e8, 1e9, // to 1 s
}}

// Sizes of batches: a call has some hundred keys at most, but one key may
// answer thousands of requests.
var sizes = shape{scale: 1, bounds: []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}}

// newHistogram makes one of as many stripes, a power of two.
func newHistogram(s shape, stripes int) *histogram {
	h := &histogram{scale: s.scale, stripes: make([]stripe, stripes)}
	h.bounds = append(append(h.bounds, s.bounds...), math.MaxInt64)
	i := 0
	for n := range h.first {
		least := uint64(1) << n >> 1 // of the numbers of n bits
		for i < len(h.bounds)-1 && uint64(h.bounds[i]) < least {
			i++
		}
		h.first[n] = uint8(i)
	}
	return h
}

// observe counts v, which is taken as 0 if it is less, and as maxValue if it is
// more.
func (h *histogram) observe(v int64, stripe uint32) {
	v = min(max(v, 0), maxValue)
	i := h.first[bits.Len64(uint64(v))]
	for v > h.bounds[i] {
		i++
	}
	cell := &h.stripes[stripe&uint32(len(h.stripes)-1)][i]
	if cell.Add(uint64(v)<<countBits|1)&halfFull != 0 {
		h.move(cell, int(i))
	}
}

// move adds what a cell holds to the totals.
func (h *histogram) move(cell *atomic.Uint64, bucket int) {
	held := cell.Swap(0)
	h.totals[bucket].n.Add(held & (1<<countBits - 1))
	h.totals[bucket].sum.Add(held >> countBits)
}

// read returns the tally of each bucket. What an observer has just taken from a
// cell and not yet added to the totals is seen by the next one to read.
func (h *histogram) read() [maxBuckets]tally {
	var out [maxBuckets]tally
	for i := range h.bounds {
		for s := range h.stripes {
			h.move(&h.stripes[s][i], i)
		}
		out[i] = tally{h.totals[i].n.Load(), h.totals[i].sum.Load()}
	}
	return out
}

func (h *histogram) count() uint64 {
	var n uint64
	for _, t := range h.read() {
		n += t.n
	}
	return n
}

// export makes a sample of h.
func (h *histogram) export(d *prometheus.Desc, labels ...string) prometheus.Metric {
	totals := h.read()
	buckets := make(map[float64]uint64, len(h.bounds))
	var all tally
	for i, bound := range h.bounds {
		all.n += totals[i].n
		all.sum += totals[i].sum
		if i < len(h.bounds)-1 { // the last is all
			buckets[float64(bound)/h.scale] = all.n
		}
	}
	return prometheus.MustNewConstHistogram(d, all.n, float64(all.sum)/h.scale, buckets, labels...)
}
