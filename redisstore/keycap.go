package redisstore

import (
	"sync/atomic"
	"time"
)

// keyCap is how many keys a script call may touch so that it stays below a
// time: a script stalls its shard for everyone. It falls fast when a call was
// slow and rises slowly when full calls were not.
type keyCap struct {
	now  atomic.Int32
	most int32
	goal time.Duration
}

const leastKeys = 8

// assumedKey is what a key is taken to cost a script that cannot tell: Redis and
// Valkey 7.2 have no clock that goes on in one. It is what a key costs on a slow
// machine.
const assumedKey = 2 * time.Microsecond

func newKeyCap(most int, goal time.Duration) *keyCap {
	c := &keyCap{most: int32(most), goal: goal}
	c.now.Store(int32(most))
	return c
}

func (c *keyCap) get() int { return int(c.now.Load()) }

// observe takes in the time a call of so many keys took.
func (c *keyCap) observe(keys int, took time.Duration) {
	if took <= 0 { // not measured
		return
	}
	now := c.now.Load()
	switch {
	case took > c.goal && keys > leastKeys:
		// In proportion to what the call overran by, but at most to a half: one
		// call that was preempted says little.
		next := int64(keys) * int64(c.goal) / int64(took)
		c.now.Store(max(leastKeys, int32(next), min(now, int32(keys))/2))
	case keys >= int(now) && took < c.goal*3/4 && now < c.most:
		c.now.Store(min(c.most, now+max(1, now/16)))
	}
}
