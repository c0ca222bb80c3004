package fastlane

import (
	"crypto/tls"
	"net/http"
	"time"
)

// Handler answers the calls of one unary method.
//
// Take begins with a call, and returns what is left to do for it, nil if that is
// nothing. Neither it nor its Step may block: the other calls of the connection
// wait behind them. The call is answered by c.Reply or c.Fail exactly once, before
// they return or later, from any goroutine. After that c belongs to another call.
// msg is the message without gRPC's prefix and is valid until Take returns: copy
// what is needed longer.
type Handler interface {
	Take(c *Call, msg []byte) Step
}

// Step is what is left to do for a call that was taken. Calls that were read
// together are served by turns: some are taken, then Find is called of each, then
// Fetch and then Run. Who is asked can so have the memory fetched that the next turn
// needs, of all of them at once. It is an alias: a Handler's step may be any that has
// these methods.
type Step = interface {
	Find()
	Fetch()
	Run()
}

// HandlerFunc is a function as a Handler: it does all at once.
type HandlerFunc func(c *Call, msg []byte)

// Take implements Handler.
func (f HandlerFunc) Take(c *Call, msg []byte) Step {
	f(c, msg)
	return nil
}

// Gatherer is told of calls that were read together: Gather before the first
// handler is called, Gathered after the last has returned.
type Gatherer interface {
	Gather()
	Gathered()
}

// Options are how a Server works. The zero value of a bound is its default.
type Options struct {
	// Methods are what is served here, by path: "/package.Service/Method".
	Methods map[string]Handler
	// Fallback serves every other stream, each on a goroutine of its own;
	// usually a *grpc.Server with the same methods, since requests that are not
	// quite usual (compressed, of another content type) go there too. Nil
	// answers Unimplemented.
	Fallback http.Handler
	// Pool is that of Fallback, if it is a *grpc.Server: see there.
	Pool *Pool
	// Cork is that of who answers many calls in a row. Nil is none.
	Cork *Cork
	// Gatherer is that of who is asked by handlers. Nil is none.
	Gatherer Gatherer
	// TLS secures connections, by ALPN h2. Nil is HTTP/2 with prior knowledge.
	TLS *tls.Config

	MaxMessage     int // bytes of a request message; default 64 KiB, at most 1 MiB
	MaxStreams     int // of a connection, at once; default 1024
	MaxFallback    int // of those, handed to Fallback; default 256
	MaxHeaderBytes int // of a request as HPACK counts them; default 16 KiB
	MaxBuffered    int // bytes of incomplete messages of a connection; default 4 MiB
	MaxQueued      int // bytes waiting to be written, beyond which nothing more is read; default 1 MiB

	// MaxResets is how many streams a second may come to nothing, by the peer's
	// resets or its errors, beyond those that were answered. Default 1000.
	MaxResets int
	// MaxControl is how many frames a second a peer may send that carry no
	// request, beyond a few for each one that does. Default 2000.
	MaxControl int

	HandshakeTimeout time.Duration // until the first SETTINGS; default 5 s
	IdleTimeout      time.Duration // of a connection without streams; default 15 min
	RequestTimeout   time.Duration // from the headers of a call to its last byte; default 1 min
	WriteTimeout     time.Duration // of one write; default 15 s
	StallTimeout     time.Duration // of an answer the peer gives no window for; default 1 min

	Hooks Hooks
}

// Hooks are told what happens. Nil ones are not called; none may block.
type Hooks struct {
	Opened   func()         // a connection was accepted
	Closed   func(r Reason) // and is no more
	Refused  func(r Reason) // a stream was not served
	Panicked func(v any, stack []byte)
}

// Bounds on what Options may say.
const (
	mostMessage = 1 << 20
	mostStreams = 1 << 16
)

func (o Options) withDefaults() Options {
	number := func(n *int, usual, most int) {
		if *n <= 0 {
			*n = usual
		}
		*n = min(*n, most)
	}
	number(&o.MaxMessage, 64<<10, mostMessage)
	number(&o.MaxStreams, 1024, mostStreams)
	number(&o.MaxFallback, 256, mostStreams)
	number(&o.MaxHeaderBytes, 16<<10, 1<<20)
	number(&o.MaxBuffered, 4<<20, 1<<30)
	number(&o.MaxQueued, 1<<20, 1<<30)
	number(&o.MaxResets, 1000, 1<<30)
	number(&o.MaxControl, 2000, 1<<30)
	for _, d := range []struct {
		d     *time.Duration
		usual time.Duration
	}{
		{&o.HandshakeTimeout, 5 * time.Second},
		{&o.IdleTimeout, 15 * time.Minute},
		{&o.RequestTimeout, time.Minute},
		{&o.WriteTimeout, 15 * time.Second},
		{&o.StallTimeout, time.Minute},
	} {
		if *d.d <= 0 {
			*d.d = d.usual
		}
	}
	return o
}
