package native

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/grpcerr"
	"github.com/weirlimit/weir/internal/wire"
)

// maxOutstanding bounds the checks of a stream that are not yet answered and
// sent. Past it the stream is not read from: the caller feels it as flow control.
const maxOutstanding = 8192

// CheckBatch implements the service.
func (l *Limiter) CheckBatch(s weirv1.Limiter_CheckBatchServer) error {
	b := &stream{limiter: l}
	b.changed = sync.NewCond(&b.mu.Mutex)
	sent := make(chan error, 1)
	go func() { sent <- b.send(s) }()
	err := b.receive(s)
	b.close()
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	return err
}

// stream is the answers of one CheckBatch that wait to be sent.
type stream struct {
	limiter *Limiter
	changed *sync.Cond
	mu      struct {
		sync.Mutex
		ready       []*weirv1.CheckResponse
		outstanding int // asked and not yet sent
		closed      bool
		broken      bool // answers can no longer be sent
	}
}

// receive reads checks until the caller has no more.
func (b *stream) receive(s weirv1.Limiter_CheckBatchServer) error {
	for {
		in, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := len(in.GetChecks())
		if n > wire.MaxChecks {
			return grpcerr.Status(invalid("checks", fmt.Sprintf("%d are more than %d", n, wire.MaxChecks)))
		}
		if !b.admit(n) {
			return nil // the sender says why
		}
		b.askAll(in.GetChecks())
	}
}

// askAll asks for the checks of a message. Those of several go to the store together:
// else the first would leave alone, and the others wait until it is back.
func (b *stream) askAll(checks []*weirv1.CheckRequest) {
	if g := b.limiter.gatherer; g != nil && len(checks) > 1 {
		g.Gather()
		defer g.Gathered()
	}
	now := time.Now()
	for _, c := range checks {
		b.ask(c, now)
	}
}

// admit waits until n more checks may be outstanding. It tells whether they
// are: nobody answers those of a stream that is broken.
func (b *stream) admit(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.mu.outstanding > 0 && b.mu.outstanding+n > maxOutstanding && !b.mu.broken {
		b.changed.Wait()
	}
	if b.mu.broken {
		return false
	}
	b.mu.outstanding += n
	return true
}

// ask submits one check; its answer comes by callback.
func (b *stream) ask(in *weirv1.CheckRequest, now time.Time) {
	out := new(weirv1.CheckResponse)
	x := b.limiter.scratch.Get().(*exchange)
	if err := wire.Check(in, &x.req, now); err != nil {
		b.limiter.scratch.Put(x)
		wire.Refuse(err, in, out)
		b.done(out)
		return
	}
	b.limiter.engine.Submit(&x.req, &x.dec, func(err error) {
		if err != nil {
			wire.Refuse(err, in, out)
		} else {
			wire.Answer(&x.dec, in, out)
		}
		b.limiter.scratch.Put(x)
		b.done(out)
	})
}

func (b *stream) done(out *weirv1.CheckResponse) {
	b.mu.Lock()
	b.mu.ready = append(b.mu.ready, out)
	b.changed.Broadcast()
	b.mu.Unlock()
}

func (b *stream) close() {
	b.mu.Lock()
	b.mu.closed = true
	b.changed.Broadcast()
	b.mu.Unlock()
}

// send sends answers, all that are ready in a message, until there will be no
// more.
func (b *stream) send(s weirv1.Limiter_CheckBatchServer) error {
	var err error
	for {
		batch, more := b.take()
		if len(batch) > 0 && err == nil {
			err = s.Send(&weirv1.CheckBatchResponse{Results: batch})
		}
		b.settle(len(batch), err != nil)
		if !more {
			return err
		}
	}
}

func (b *stream) take() (batch []*weirv1.CheckResponse, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.mu.ready) == 0 && !(b.mu.closed && b.mu.outstanding == 0) {
		b.changed.Wait()
	}
	batch, b.mu.ready = b.mu.ready, nil
	return batch, !b.mu.closed || b.mu.outstanding > len(batch)
}

func (b *stream) settle(n int, broken bool) {
	b.mu.Lock()
	b.mu.outstanding -= n
	b.mu.broken = b.mu.broken || broken
	b.changed.Broadcast()
	b.mu.Unlock()
}
