package token

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
)

// cacheSlot holds the cache of the keys of now. Another set of keys gets a
// cache of its own, so that nothing is believed that it would not verify.
type cacheSlot struct{ now atomic.Pointer[cache] }

func (s *cacheSlot) of(keys *KeySet, most int) *cache {
	for {
		c := s.now.Load()
		if c != nil && c.keys == keys {
			return c
		}
		if fresh := newCache(keys, most); s.now.CompareAndSwap(c, fresh) {
			return fresh
		}
	}
}

// cache remembers at most 2*most tokens: when the young are as many as that,
// they become the old, and the old are forgotten. One that is met again among
// the old is young again.
type cache struct {
	keys *KeySet
	most int

	mu struct {
		sync.Mutex
		young, old map[[sha256.Size]byte]verified
	}
}

func newCache(keys *KeySet, most int) *cache {
	c := &cache{keys: keys, most: most}
	c.mu.young = map[[sha256.Size]byte]verified{}
	return c
}

func (c *cache) get(digest [sha256.Size]byte) (verified, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.mu.young[digest]; ok {
		return v, true
	}
	v, ok := c.mu.old[digest]
	if ok {
		c.putLocked(digest, v)
	}
	return v, ok
}

func (c *cache) put(digest [sha256.Size]byte, v verified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(digest, v)
}

func (c *cache) putLocked(digest [sha256.Size]byte, v verified) {
	if len(c.mu.young) >= c.most {
		c.mu.old, c.mu.young = c.mu.young, make(map[[sha256.Size]byte]verified, c.most)
	}
	c.mu.young[digest] = v
}
