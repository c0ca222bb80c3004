package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// Client is a remote weir.Checker. Make one with New or Over.
type Client struct {
	config
	limiter weirv1.LimiterClient
	conn    io.Closer // nil when it is the caller's
	async   weir.AsyncChecker
	epoch   time.Time
	lanes   []*lane
	turn    atomic.Uint32
	left    atomic.Uint32 // how often a connection was left
	fell    atomic.Bool   // the fallback was asked, ever

	cancel  context.CancelFunc
	running sync.WaitGroup
	asides  struct { // what waits for the fallback
		sync.Mutex
		over    bool
		running sync.WaitGroup
	}
	closing sync.Once
	closed  error
}

var (
	_ weir.AsyncChecker = (*Client)(nil)
	_ weir.Releaser     = (*Client)(nil)
)

// Over returns a client that asks over a connection of the caller's, which is
// not closed by Close. A stats handler of the connection must not keep messages:
// they are reused.
func Over(conn *grpc.ClientConn, opts ...Option) (*Client, error) {
	o, err := settle(opts)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return nil, invalid("conn", "is nil", "make one with grpc.NewClient, or use New")
	}
	return start(o, conn), nil
}

func start(o config, conn *grpc.ClientConn) *Client {
	c := &Client{config: o, limiter: weirv1.NewLimiterClient(conn), epoch: time.Now()}
	c.async, _ = o.fallback.(weir.AsyncChecker)
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	for range o.streams {
		l := newLane(c)
		c.lanes = append(c.lanes, l)
		c.running.Go(func() { l.run(ctx) })
		c.running.Go(func() { l.watch(ctx) })
	}
	c.running.Go(func() { c.follow(ctx, conn) })
	return c
}

// follow has streams roll when their connection is being left, as when its
// server is shutting down. Between two looks a connection may have become ready
// and been left again: one that is idle has left every stream that is up.
func (c *Client) follow(ctx context.Context, conn *grpc.ClientConn) {
	for s := conn.GetState(); conn.WaitForStateChange(ctx, s); {
		was := s
		if s = conn.GetState(); was == connectivity.Ready || s == connectivity.Idle {
			c.left.Add(1)
			for _, l := range c.lanes {
				l.roll()
			}
		}
	}
}

// tickAt is a time on the wheels' clock.
func (c *Client) tickAt(t time.Time) tick { return tick(t.Sub(c.epoch) / tickLength) }

// Check implements weir.Checker.
func (c *Client) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	w := waiters.Get().(*waiter)
	t := c.ticket(r, d)
	t.wait = w
	if at, ok := ctx.Deadline(); ok && at.Before(t.until) {
		t.until = at
	}
	err := c.send(t)
	if err == nil {
		<-w.wake
		err = w.err
		if w.away != nil {
			err = c.stepIn(ctx, t, w.away)
		}
	} else if refused, final := err.(*refusal); !final {
		err = c.stepIn(ctx, t, err)
	} else {
		err = refused.error
	}
	w.err, w.away = nil, nil
	waiters.Put(w)
	return err
}

var waiters = sync.Pool{New: func() any { return &waiter{wake: make(chan struct{}, 1)} }}

// Submit implements weir.AsyncChecker.
func (c *Client) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	t := c.ticket(r, d)
	t.done = done
	if err := c.send(t); err != nil {
		if refused, final := err.(*refusal); final {
			c.callBack(done, refused.error)
			return
		}
		c.undecided(t, err)
	}
}

func (c *Client) ticket(r *weir.Request, d *weir.Decision) ticket {
	now := time.Now()
	t := ticket{req: r, dec: d, began: now, until: now.Add(c.deadline)}
	if !r.Deadline.IsZero() && r.Deadline.Before(t.until) {
		t.until = r.Deadline
	}
	return t
}

// refusal is an error that is the answer: there is nothing to fall back from.
type refusal struct{ error }

// send queues a check on a lane. It returns a *refusal, or why the fallback is
// to answer.
func (c *Client) send(t ticket) error {
	if err := wire.Validate(t.req); err != nil {
		return &refusal{err}
	}
	give := t.until.Sub(t.began)
	if give <= 0 {
		return errTimeout
	}
	give -= reserve(give)
	due := c.tickAt(t.began.Add(give))
	first := c.turn.Add(1)
	var err error
	for i := range c.lanes {
		// The server has three quarters: its answer has to come back, too.
		err = c.lanes[(first+uint32(i))%uint32(len(c.lanes))].submit(t, give*3/4, due)
		if err == nil {
			return nil
		}
	}
	if errors.Is(err, errClosed) {
		return &refusal{errClosed}
	}
	return err
}

// reserve is what of a time is kept for the fallback.
func reserve(of time.Duration) time.Duration { return min(of/4, 2*time.Millisecond) }

// Close answers what is outstanding, by its deadlines at the latest, and ends
// the streams. Checks that come later get CodeClosed. It may be called more than
// once.
func (c *Client) Close() error {
	c.closing.Do(func() {
		for _, l := range c.lanes {
			l.drain()
		}
		c.cancel()
		c.running.Wait()
		c.asides.Lock()
		c.asides.over = true
		c.asides.Unlock()
		c.asides.running.Wait()
		if c.conn != nil {
			c.closed = c.conn.Close()
		}
	})
	return c.closed
}

// drain takes no more checks, and waits for those that are there.
func (l *lane) drain() {
	l.mu.Lock()
	l.mu.state = closed
	wait := l.mu.outstanding > 0
	l.mu.Unlock()
	if wait {
		<-l.empty
	}
}
