package local

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/hot"
	"github.com/weirlimit/weir/internal/keytable"
)

// The sketch is cut up by key, so that two requests seldom wait for each other.
// Each part holds the keys that are more than a 64th of what it counts.
const (
	hotShards   = 16
	hotCounters = 64
)

// Keys that come this often, in parts of the rate that is hot, are remembered by
// name, and of the name so much.
const (
	namedPart  = 5
	maxHotName = 256
)

// hotKeys are the keys asked for most at this node.
type hotKeys struct {
	rate   float64 // from which a key is hot
	shards [hotShards]hotShard
}

type hotShard struct {
	mu struct {
		sync.Mutex
		sketch *hot.Sketch[keytable.ID]
	}
	_ [48]byte
}

func newHotKeys(rate float64) *hotKeys {
	h := &hotKeys{rate: rate}
	for i := range h.shards {
		h.shards[i].mu.sketch = hot.New[keytable.ID](hotCounters)
	}
	return h
}

// add counts n requests of a key, and returns how many a second come, at most
// and at least. n may be 0, to ask.
func (h *hotKeys) add(id keytable.ID, key string, n float64, now weir.Micros) (most, least float64) {
	s := &h.shards[id.Spread(hotShards)]
	s.mu.Lock()
	defer s.mu.Unlock()
	var c *hot.Counter[keytable.ID]
	if n == 0 {
		if c = s.mu.sketch.Find(id, now); c == nil {
			return 0, 0
		}
	} else {
		c = s.mu.sketch.Add(id, n, now)
	}
	most, least = s.mu.sketch.Rates(c, now)
	if c.Name == "" && least >= h.rate/namedPart {
		c.Name = strings.Clone(key[:min(len(key), maxHotName)])
	}
	return most, least
}

// HotKey is a key that is asked for often.
type HotKey struct {
	// Key is the counter's name, of a long one the beginning. It holds pseudonyms
	// in the place of private values.
	Key  string
	Rate float64 // requests a second at this node, at most
	// Error is by how much Rate may be too high.
	Error float64
	Hot   bool // often enough to be leased
	// Lease is how many units are taken at a time; 0 where none are.
	Lease int64
}

// top returns the n keys asked for most, those first. lease, when not nil, tells
// how many units of one are taken at a time.
func (h *hotKeys) top(n int, now weir.Micros, lease func(keytable.ID) int64) []HotKey {
	var all []HotKey
	var buf []hot.Counter[keytable.ID]
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.Lock()
		buf = s.mu.sketch.Append(buf[:0], now)
		for j := range buf {
			if c := &buf[j]; c.Name != "" {
				most, least := s.mu.sketch.Rates(c, now)
				k := HotKey{Key: c.Name, Rate: most, Error: most - least, Hot: least >= h.rate}
				if lease != nil {
					k.Lease = lease(c.Key)
				}
				all = append(all, k)
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b HotKey) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(n, len(all))]
}
