package bench

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/internal/h2client"
)

// stream asks through the client that Go programs use.
type stream struct {
	run    *run
	client *client.Client
	under  atomic.Int64
	line   atomic.Uint32
	mu     struct {
		sync.Mutex
		free []*ask
	}
}

// ask is one request under way, used again for others.
type ask struct {
	stream   *stream
	call     h2client.Call
	line     int
	request  weir.Request
	decision weir.Decision
	done     func(error) // a method value, made once
}

func newStream(ctx context.Context, r *run) (*stream, error) {
	p := &r.plan
	// The client connects by itself and answers meanwhile. Whether there is
	// anybody is better known at once.
	probe, err := new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return nil, err
	}
	_ = probe.Close()
	opts := []client.Option{
		client.WithDeadline(p.Timeout), client.WithStreams(p.Conns), client.WithFallback(nobody{}),
		// Callers are bounded here. A lane lets go of a call a little after its answer.
		client.WithMaxOutstanding(min(2*p.Callers+64, client.MaxOutstanding)),
	}
	if p.TLS != nil {
		opts = append(opts, client.WithTLS(p.TLS))
	} else {
		opts = append(opts, client.WithInsecure()) // as the caller asked
	}
	c, err := client.New(p.Addr, opts...)
	if err != nil {
		return nil, err
	}
	return &stream{run: r, client: c}, nil
}

// nobody answers in place of a server that is away, so that its answers are
// known from a server's.
type nobody struct{}

const noAnswer = "no answer"

func (nobody) Check(_ context.Context, _ *weir.Request, d *weir.Decision) error {
	*d = weir.Decision{PolicyVersion: noAnswer}
	return nil
}

// Send implements transport.
func (s *stream) Send(c h2client.Call) bool {
	if s.under.Add(1) > int64(s.run.plan.Callers) {
		s.under.Add(-1)
		return false
	}
	s.take().send(c)
	return true
}

func (s *stream) take() *ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.mu.free); n > 0 {
		a := s.mu.free[n-1]
		s.mu.free = s.mu.free[:n-1]
		return a
	}
	a := &ask{stream: s, line: int(s.line.Add(1))}
	a.done = a.answered
	return a
}

// send asks. The native API has one set of dimensions: those of all descriptors.
func (a *ask) send(c h2client.Call) {
	a.call = c
	r := &a.request
	a.stream.run.plan.Requests.Fill(c.N, r)
	if r.Cost == 1 {
		r.Cost = 0 // the server's default, as the other APIs send it
	}
	if len(r.Descriptors) > 1 {
		var all []weir.Pair
		for i := range r.Descriptors {
			all = append(all, r.Descriptors[i].Pairs...)
		}
		r.Descriptors = append(r.Descriptors[:0], weir.Descriptor{Pairs: all, HasCost: r.Descriptors[0].HasCost})
	}
	a.stream.client.Submit(r, &a.decision, a.done)
}

func (a *ask) answered(err error) {
	s := a.stream
	out := h2client.Answer{Call: a.call, Line: a.line, Now: s.run.clock()}
	switch {
	case err != nil:
		out.Failure, out.Detail = failUndecided, err.Error()
	case a.decision.PolicyVersion == noAnswer && out.Now-out.Due >= s.run.plan.Timeout*9/10:
		out.Failure = h2client.Timeout
	case a.decision.PolicyVersion == noAnswer:
		out.Failure, out.Detail = h2client.Broken, "there is no stream to the server, or it stalls"
	case a.decision.Allowed() && a.decision.Reason == weir.ReasonNoRule:
		out.Verdict = unruled
	case a.decision.Allowed():
		out.Verdict = allowed
	default:
		out.Verdict = denied
	}
	next, more := s.run.answered(out)
	switch {
	case more && out.Failure == h2client.OK:
		a.send(next)
	case more: // the client may fail at once: not in a circle
		time.AfterFunc(10*time.Millisecond, func() { a.send(h2client.Call{N: next.N, Due: s.run.clock()}) })
	default:
		s.mu.Lock()
		s.mu.free = append(s.mu.free, a)
		s.mu.Unlock()
		s.under.Add(-1)
	}
}

// Flush implements transport: the client batches by itself.
func (s *stream) Flush() {}

// Outstanding implements transport.
func (s *stream) Outstanding() int { return int(s.under.Load()) }

// Close implements transport.
func (s *stream) Close() { _ = s.client.Close() } // nothing is lost by a connection that ends badly
