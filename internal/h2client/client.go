package h2client

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2/hpack"
)

// Options say whom to call, and how. All but TLS and UserAgent are required.
type Options struct {
	Addr      string      // host:port
	TLS       *tls.Config // nil for none
	Path      string      // of the method: /package.Service/Method
	UserAgent string

	Conns       int           // connections, 1 to 1024
	Outstanding int           // most calls of a connection that are not answered, 1 to 65536
	Timeout     time.Duration // longest to wait for an answer, or to be sent
	Clock       func() time.Duration

	// Encode appends the message of call n.
	Encode func(dst []byte, n int64) []byte
	// Judge reads an answer's message, which it must not keep.
	Judge func(message []byte) uint8
	// Answered is told of every call once, those of one line one at a time. It
	// may return a call to send in its place: a closed loop is no more than that.
	Answered func(a Answer) (next Call, more bool)
}

func (o *Options) check() error {
	switch {
	case o.Addr == "" || o.Path == "":
		return fmt.Errorf("address or path is empty")
	case o.Conns < 1 || o.Conns > 1024:
		return fmt.Errorf("%d connections are outside 1 to 1024", o.Conns)
	case o.Outstanding < 1 || o.Outstanding > 1<<16:
		return fmt.Errorf("%d outstanding calls are outside 1 to 65536", o.Outstanding)
	case o.Timeout <= 0 || o.Clock == nil || o.Encode == nil || o.Judge == nil || o.Answered == nil:
		return fmt.Errorf("timeout, clock, encode, judge or answered is missing")
	}
	return nil
}

// Client sends calls. Make one with Dial.
type Client struct {
	o      Options
	fields []hpack.HeaderField
	lines  []*line
	turn   atomic.Uint32
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// Dial connects. It returns the error of a connection that cannot be made; those
// that break later are made again.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("set up client: %w", err)
	}
	c := &Client{o: o, fields: requestFields(&o)}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	first := make(chan error, o.Conns)
	for i := range o.Conns {
		l := &line{client: c, index: i}
		c.lines = append(c.lines, l)
		c.ended.Go(func() { l.run(running, first) })
	}
	c.ended.Go(func() { c.sweep(running) })
	var failed error
	for range c.lines {
		select {
		case err := <-first:
			failed = err
		case <-ctx.Done():
			failed = ctx.Err()
		}
		if failed != nil {
			c.Close()
			return nil, failed
		}
	}
	return c, nil
}

func requestFields(o *Options) []hpack.HeaderField {
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	fields := []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: scheme},
		{Name: ":path", Value: o.Path},
		{Name: ":authority", Value: o.Addr},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
	}
	if o.UserAgent != "" {
		fields = append(fields, hpack.HeaderField{Name: "user-agent", Value: o.UserAgent})
	}
	return fields
}

// Send sends a call over the next connection with room for it, at the next
// Flush at the latest. It returns false when all have Outstanding under way.
func (c *Client) Send(call Call) bool {
	for range c.lines {
		if c.lines[int(c.turn.Add(1))%len(c.lines)].submit(call) {
			return true
		}
	}
	return false
}

// Flush writes what was sent.
func (c *Client) Flush() {
	for _, l := range c.lines {
		l.flush()
	}
}

// Outstanding is how many calls were sent and have no answer yet.
func (c *Client) Outstanding() int {
	n := 0
	for _, l := range c.lines {
		l.mu.Lock()
		n += l.outstandingLocked()
		l.mu.Unlock()
	}
	return n
}

// sweep looks for calls that have waited too long.
func (c *Client) sweep(ctx context.Context) {
	tick := time.NewTicker(max(c.o.Timeout/20, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for _, l := range c.lines {
				l.sweep(c.o.Clock())
			}
		}
	}
}

// Close ends all connections, tells what was under way as Closed, and waits for
// its goroutines.
func (c *Client) Close() {
	c.cancel()
	for _, l := range c.lines {
		l.close()
	}
	c.ended.Wait()
}
