package main

import (
	"context"
	"time"

	"github.com/weirlimit/weir/redisstore"
)

// leaveFor is how long a server that stops tries to tell the others.
const leaveFor = 500 * time.Millisecond

// joinInstances makes s known to the others that share its Redis. Without one
// the number of instances is what --instances says.
func (s *server) joinInstances() {
	known := s.flags.instances.count
	s.instances = func() int { return known }
	s.leaveInstances = func() {}
	s.metrics.Instances(known)
	store, ok := s.store.(*redisstore.Store)
	if !ok {
		return
	}
	m := store.Join(redisstore.JoinOptions{Fallback: known, Told: s.heartbeat})
	s.instances = m.Count
	s.leaveInstances = func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveFor)
		defer cancel()
		// Who cannot say goodbye is forgotten a few seconds later.
		_ = m.Leave(ctx)
	}
}

// heartbeat notes what one told. That Redis is away is watchStore's to tell.
func (s *server) heartbeat(h redisstore.Heartbeat) {
	s.metrics.Instances(h.Instances)
	if h.Err == nil {
		s.metrics.ClockOffset(h.Offset, h.Doubt)
	}
}
