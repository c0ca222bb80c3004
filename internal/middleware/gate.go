package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

// Defaults of a Config.
const (
	DefaultDomain   = "default"
	DefaultMaxDelay = time.Second
)

// afterTimeout bounds what happens after a request: nobody waits for it, but
// it must end.
const afterTimeout = time.Second

// Config says how requests are asked about. Checker is required.
type Config struct {
	Checker weir.Checker
	Domain  string // empty: DefaultDomain
	Policy  string // a policy's id, or empty for all that match

	// MaxDelay is the longest that a request is held back for a leaky bucket.
	// One that would have to wait longer is denied, and given its units back.
	// 0 is DefaultMaxDelay; below 0, nothing waits and everything goes on at once.
	MaxDelay time.Duration
	// Holds gives each request an id and releases what it holds of limits of
	// concurrency at its end. The checker has to be a weir.Releaser.
	Holds bool
	// FailClosed denies what could not be decided.
	FailClosed bool
	// OnError is told of every error of the checker; nil for nobody. It must
	// not block.
	OnError func(ctx context.Context, err error)
}

// Gate asks about requests. Make one with New.
type Gate struct {
	Config
	releaser weir.Releaser
	passes   sync.Pool
}

// New returns a gate, or an *weir.Error that names the field at fault.
func New(c Config) (*Gate, error) {
	if c.Checker == nil {
		return nil, invalid("checker", "is missing", "give an engine, an embedded limiter or a client")
	}
	if c.Domain == "" {
		c.Domain = DefaultDomain
	}
	if c.MaxDelay == 0 {
		c.MaxDelay = DefaultMaxDelay
	}
	g := &Gate{Config: c}
	g.passes.New = func() any { return newPass(g) }
	if c.Holds {
		releaser, ok := c.Checker.(weir.Releaser)
		if !ok {
			return nil, invalid("concurrency", "the checker cannot release", "use one that is a weir.Releaser, or no concurrency")
		}
		g.releaser = releaser
	}
	return g, nil
}

// Begin returns a pass for one request. It has to be ended.
func (g *Gate) Begin() *Pass {
	p := g.passes.Get().(*Pass)
	p.reset()
	return p
}

func (g *Gate) failed(ctx context.Context, err error) {
	if g.OnError != nil {
		g.OnError(ctx, err)
	}
}

func invalid(field, message, hint string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
