package redisstore

import (
	"context"
	"sync"
	"time"
)

// sharedNode is a node that several flights use: it is closed when the last
// one is done with it.
type sharedNode struct {
	*node
	store *Store
	mu    struct {
		sync.Mutex
		users   int
		retired bool
	}
}

func (n *sharedNode) use() {
	n.mu.Lock()
	n.mu.users++
	n.mu.Unlock()
}

func (n *sharedNode) isRetired() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.retired
}

func (n *sharedNode) release() {
	n.mu.Lock()
	n.mu.users--
	last := n.mu.retired && n.mu.users == 0
	n.mu.Unlock()
	if last {
		n.dispose()
	}
}

// dispose closes the node in the background: a connection that hangs is given
// a second to say goodbye.
func (n *sharedNode) dispose() {
	if n.store.closed.Load() {
		n.close()
		return
	}
	n.store.goRun(n.close)
}

// acquire returns the shard's node, dialling it if need be. One dial is under
// way at a time.
func (s *shard) acquire(ctx context.Context) (*sharedNode, error) {
	s.conn.Lock()
	defer s.conn.Unlock()
	if s.conn.running == 0 {
		return nil, &notSentError{leftError()}
	}
	if s.conn.node == nil {
		s.dialing.Store(true)
		defer s.dialing.Store(false)
		addr, err := s.store.primaryAddr(ctx, s.addr)
		if err != nil {
			return nil, err
		}
		s.primary.Store(&addr)
		n, err := dialNode(ctx, addr, &s.store.opts)
		if err != nil {
			return nil, err
		}
		s.conn.node = &sharedNode{node: n, store: s.store}
		s.linked.Store(true)
	}
	s.conn.node.use()
	return s.conn.node, nil
}

// linkedNode returns the shard's node if there is one, and does not wait.
func (s *shard) linkedNode() *sharedNode {
	if !s.conn.TryLock() { // somebody dials
		return nil
	}
	defer s.conn.Unlock()
	if n := s.conn.node; n != nil {
		n.use()
		return n
	}
	return nil
}

// worthProbing tells whether a probe would be sent: over the connection there
// is, or over one that may be dialled now. One that only waited for a dial would
// be late for no fault of the server.
func (s *shard) worthProbing() bool {
	if s.linked.Load() {
		return true
	}
	if s.dialing.Load() {
		return false
	}
	addr := s.addr
	if s.store.opts.Mode == Sentinel {
		last := s.primary.Load()
		if last == nil {
			return true
		}
		addr = *last
	}
	return s.store.opts.dials.door(addr).mayDial(time.Now())
}

// retire stops the use of a node: the next flight dials anew.
func (s *shard) retire(n *sharedNode) {
	s.conn.Lock()
	if s.conn.node == n {
		s.conn.node = nil
		s.linked.Store(false)
	}
	s.conn.Unlock()
	n.mu.Lock()
	first := !n.mu.retired
	n.mu.retired = true
	idle := n.mu.users == 0
	n.mu.Unlock()
	s.mu.Lock()
	s.dismissLocked(n)
	s.mu.Unlock()
	if first && idle {
		n.dispose()
	}
}

// leave is retire for whatever node there is.
func (s *shard) leave() {
	s.conn.Lock()
	n := s.conn.node
	s.conn.Unlock()
	if n != nil {
		s.retire(n)
	}
}
