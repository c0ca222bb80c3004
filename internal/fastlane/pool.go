package fastlane

import (
	"slices"
	"sync"

	"google.golang.org/grpc/mem"
)

// Pool is the buffers of a *grpc.Server that is a Fallback, given to it by
// experimental.BufferPool and to Options.
//
// grpc-go's ServeHTTP reads a request as fast as it comes, whether or not the
// handler takes its messages, each read into a buffer of 16 KiB. A peer that
// sends faster than it is served, or single bytes, could fill the memory. The
// pool sees when a buffer that was read into has been used, and the body of a
// stream gives no more than some at a time.
type Pool struct {
	under mem.BufferPool
	mu    struct {
		sync.Mutex
		owners map[*byte]*exchange
	}
}

var _ mem.BufferPool = (*Pool)(nil)

// NewPool makes a pool over grpc-go's own.
func NewPool() *Pool {
	p := &Pool{under: mem.DefaultBufferPool()}
	p.mu.owners = make(map[*byte]*exchange)
	return p
}

// Get implements mem.BufferPool.
func (p *Pool) Get(n int) *[]byte { return p.under.Get(n) }

// Put implements mem.BufferPool.
func (p *Pool) Put(b *[]byte) {
	if cap(*b) > 0 {
		first := &(*b)[:1][0]
		p.mu.Lock()
		x := p.mu.owners[first]
		delete(p.mu.owners, first)
		p.mu.Unlock()
		if x != nil {
			x.returned(first)
		}
	}
	p.under.Put(b)
}

func (p *Pool) lend(first *byte, x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.owners[first] = x
}

func (p *Pool) forget(loans []*byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, first := range loans {
		delete(p.mu.owners, first)
	}
}

// freeLoans is how many buffers a stream may have read into, however little is
// in them. Beyond it only full ones are given, and those that complete a message,
// as many as two messages need: then one is complete, and the handler has something
// to take.
const freeLoans = 8

// mayLendLocked tells whether the body may fill another buffer of n bytes.
func (x *exchange) mayLendLocked(n int) bool {
	o := &x.conn.server.o
	if o.Pool == nil || len(x.loans) < freeLoans {
		return true
	}
	worth := len(x.body)-x.read >= n || x.bodyErr != nil || x.cursor.completes(x.body[x.read:])
	return worth && len(x.loans) < freeLoans+2*(o.MaxMessage+grpcPrefixLen)/maxFrame+2
}

// lendLocked notes that n bytes were read into a buffer.
func (x *exchange) lendLocked(p []byte, n int) {
	if pool := x.conn.server.o.Pool; pool != nil {
		x.cursor.pass(p[:n])
		x.loans = append(x.loans, &p[0])
		pool.lend(&p[0], x)
	}
}

func (x *exchange) returned(first *byte) {
	x.conn.mu.Lock()
	defer x.conn.mu.Unlock()
	if i := slices.Index(x.loans, first); i >= 0 {
		x.loans = slices.Delete(x.loans, i, i+1)
		x.changed.Broadcast()
	}
}
