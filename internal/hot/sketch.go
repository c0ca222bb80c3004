package hot

import (
	"cmp"
	"slices"

	"github.com/weirlimit/weir"
)

// halfLife is how often the counts are halved.
const halfLife = weir.Second

// maxHalvings is after how many a count is as good as nothing.
const maxHalvings = 64

// Counter counts one key.
type Counter[K comparable] struct {
	Key   K
	Count float64 // never below what was counted
	Error float64 // by how much, at most, it is above
	// Name is the user's. It is empty in a counter that changes hands.
	Name string
}

// Sketch counts keys. Make one with New.
type Sketch[K comparable] struct {
	heap []Counter[K] // the smallest count first
	// keys are those of heap, side by side. To look through them all is cheaper
	// than a map, of which every swap would change two places.
	keys  []K
	began weir.Micros // when counts were last halved
}

// New returns a sketch of so many counters; 1 at least. It is meant for a hundred
// or so.
func New[K comparable](counters int) *Sketch[K] {
	counters = max(counters, 1)
	return &Sketch[K]{heap: make([]Counter[K], 0, counters), keys: make([]K, 0, counters)}
}

// Add counts n of a key at an instant, and returns its counter, which is good
// until the next call.
func (s *Sketch[K]) Add(k K, n float64, now weir.Micros) *Counter[K] {
	s.age(now)
	i := slices.Index(s.keys, k)
	switch {
	case i >= 0:
	case len(s.heap) < cap(s.heap):
		s.heap, s.keys = append(s.heap, Counter[K]{Key: k}), append(s.keys, k)
		i = s.up(len(s.heap) - 1)
	default: // the smallest changes hands, with what it counted
		c := &s.heap[0]
		*c = Counter[K]{Key: k, Count: c.Count, Error: c.Count}
		s.keys[0], i = k, 0
	}
	s.heap[i].Count += n
	return &s.heap[s.down(i)]
}

// age halves the counts for each interval that has passed.
func (s *Sketch[K]) age(now weir.Micros) {
	if s.began == 0 {
		s.began = now
	}
	n := int((now - s.began) / halfLife)
	if n <= 0 {
		return
	}
	s.began += weir.Micros(n) * halfLife
	if n > maxHalvings {
		s.heap, s.keys = s.heap[:0], s.keys[:0]
		return
	}
	f := 1.0
	for range n {
		f /= 2
	}
	for i := range s.heap { // the order stays
		s.heap[i].Count *= f
		s.heap[i].Error *= f
	}
}

// Rates tells how often a second a key comes, at most and at least. Of a rate r
// that is steady, r is left by the last halving, and r times what has passed of
// the second came since.
func (s *Sketch[K]) Rates(c *Counter[K], now weir.Micros) (most, least float64) {
	part := float64(now-s.began) / float64(halfLife)
	f := 1 / (1 + min(max(part, 0), 1))
	return c.Count * f, (c.Count - c.Error) * f
}

// Find returns the counter of a key, or nil; it is good until the next Add.
func (s *Sketch[K]) Find(k K, now weir.Micros) *Counter[K] {
	s.age(now)
	if i := slices.Index(s.keys, k); i >= 0 {
		return &s.heap[i]
	}
	return nil
}

// Append appends the counters, the largest first.
func (s *Sketch[K]) Append(dst []Counter[K], now weir.Micros) []Counter[K] {
	s.age(now)
	first := len(dst)
	dst = append(dst, s.heap...)
	slices.SortStableFunc(dst[first:], func(a, b Counter[K]) int { return cmp.Compare(b.Count, a.Count) })
	return dst
}

// Total is an upper bound of all that was counted, and of what the error bound is
// a part.
func (s *Sketch[K]) Total() float64 {
	n := 0.0
	for i := range s.heap {
		n += s.heap[i].Count
	}
	return n
}

func (s *Sketch[K]) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
}

// up moves the counter at i towards the top, and returns where it is.
func (s *Sketch[K]) up(i int) int {
	for i > 0 && s.heap[i].Count < s.heap[(i-1)/2].Count {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

// down moves the counter at i away from the top, and returns where it is.
func (s *Sketch[K]) down(i int) int {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if s.heap[child].Count < s.heap[least].Count {
				least = child
			}
		}
		if least == i {
			return i
		}
		s.swap(i, least)
		i = least
	}
}
