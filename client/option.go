package client

import (
	"crypto/tls"
	"time"

	"github.com/weirlimit/weir"
)

// Defaults and bounds of options.
const (
	DefaultDeadline       = 25 * time.Millisecond
	DefaultMaxOutstanding = 8192 // what a server lets be outstanding on a stream
	MaxOutstanding        = 1 << slotBits
	MaxStreams            = 64
)

// FailMode is how a Client without a fallback answers when the server is away.
type FailMode uint8

// The fail modes.
const (
	FailOpen   FailMode = iota // pass
	FailClosed                 // deny, to be tried again in a second
)

// retryClosed is when to come back to a limiter that cannot decide. Edges add
// jitter.
const retryClosed = weir.Second

// config is what options change.
type config struct {
	wrong       *weir.Error
	tls         *tls.Config
	insecure    bool
	deadline    time.Duration
	streams     int
	outstanding int
	charges     bool
	failMode    FailMode
	fallback    weir.Checker
	hooks       weir.Hooks
}

// Option changes what New and Over make.
type Option func(*config)

// WithTLS has New connect with TLS. For mTLS give the config Certificates or
// GetClientCertificate. Without a ServerName the target's host is verified.
func WithTLS(c *tls.Config) Option {
	return func(o *config) {
		if c == nil {
			o.wrong = invalid("tls", "is nil", "leave it out, or give a config")
			return
		}
		o.tls = c.Clone()
	}
}

// WithInsecure lets New connect to another machine without TLS: whoever is in
// between can read and change decisions. For a server on loopback or on a Unix
// socket it is not needed.
func WithInsecure() Option { return func(o *config) { o.insecure = true } }

// WithDeadline sets how long a check may take when its request and its context
// do not ask for less; DefaultDeadline unless set.
func WithDeadline(d time.Duration) Option {
	return func(o *config) {
		if d <= 0 {
			o.wrong = invalid("deadline", "is not above 0", "for example 25ms")
		}
		o.deadline = d
	}
}

// WithStreams sets over how many streams checks are spread, 1 unless set. One
// is best until a core is busy with reading its answers.
func WithStreams(n int) Option {
	return func(o *config) {
		if n < 1 || n > MaxStreams {
			o.wrong = invalid("streams", "is outside 1 to 64", "")
		}
		o.streams = n
	}
}

// WithMaxOutstanding bounds the checks of a stream that are not answered yet;
// more are answered by the fallback at once. DefaultMaxOutstanding unless set.
func WithMaxOutstanding(n int) Option {
	return func(o *config) {
		if n < 1 || n > MaxOutstanding {
			o.wrong = invalid("outstanding", "is outside 1 to 65536", "")
		}
		o.outstanding = n
	}
}

// WithCharges asks for every limit that applied, in Decision.Charges, rather
// than only the one that binds. It makes answers longer. Requests with an id are
// always told of all: who took a place has to know, to give it back.
func WithCharges() Option { return func(o *config) { o.charges = true } }

// WithFallback sets who answers when the server is away. It should be quick and
// near: an engine with its counters in memory. Where it is a weir.AsyncChecker
// or a weir.Releaser, that is made use of. It is not closed by Close.
func WithFallback(c weir.Checker) Option {
	return func(o *config) {
		if c == nil {
			o.wrong = invalid("fallback", "is nil", "leave it out")
		}
		o.fallback = c
	}
}

// WithFailMode sets what is answered when the server is away and there is no
// fallback, or it fails too. FailOpen unless set.
func WithFailMode(m FailMode) Option {
	return func(o *config) {
		if m > FailClosed {
			o.wrong = invalid("fail mode", "there is no such mode", "FailOpen or FailClosed")
		}
		o.failMode = m
	}
}

// WithHooks sets who watches: Decided, Degraded, Lost and Panicked are called.
func WithHooks(h weir.Hooks) Option { return func(o *config) { o.hooks = h } }

func settle(opts []Option) (config, error) {
	o := config{deadline: DefaultDeadline, streams: 1, outstanding: DefaultMaxOutstanding}
	for _, opt := range opts {
		if opt == nil {
			return o, invalid("option", "is nil", "leave it out")
		}
		opt(&o)
	}
	if o.wrong != nil {
		return o, o.wrong
	}
	return o, nil
}

func invalid(field, message, hint string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
