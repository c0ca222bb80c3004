package bench

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
)

// Plan is a load. API, Addr, Requests and For are required.
type Plan struct {
	API      API
	Addr     string // host:port
	TLS      *tls.Config
	Requests Requests

	// Rate is that of an open loop, in requests a second, at most a million. 0
	// is a closed loop.
	Rate int
	// Callers is how many requests are under way: always in a closed loop, at
	// most in an open one. Default 64, and 4096 in an open loop (HTTP: 256).
	Callers int
	// Conns is over how many connections they are spread: by default 4, at most
	// Callers. HTTP has one for each caller, whatever it says.
	Conns int
	// Warmup is sent before For, and not counted.
	Warmup, For time.Duration
	// Most bounds the requests, those of the warm-up included; 0 is no bound.
	Most int64
	// Timeout is the longest to wait for an answer. Default 1 s.
	Timeout time.Duration

	Processes []Process
	// Progress, when not nil, is told once a second how it goes.
	Progress func(p Progress)
}

// Progress is how a run goes.
type Progress struct {
	At       time.Duration // since the start, the warm-up included
	Warming  bool
	Answered uint64  // so far, the warm-up included
	Rate     float64 // answers a second since the last time
	Failed   uint64
}

const (
	minSpan    = time.Millisecond
	maxSpan    = time.Hour
	maxCallers = 1 << 16
	maxConns   = 1024
	maxWorkers = 4096 // callers of HTTP have a goroutine and a connection each
)

func (p *Plan) setDefaults() error {
	p.Timeout = orElse(p.Timeout, time.Second)
	callers := 64
	switch {
	case p.Rate > 0 && p.API == HTTP:
		callers = 256
	case p.Rate > 0:
		callers = 4096
	}
	p.Callers = orElse(p.Callers, callers)
	p.Conns = min(orElse(p.Conns, 4), p.Callers)
	most := maxCallers
	if p.API == HTTP {
		most = maxWorkers
	}
	switch {
	case p.Requests == nil:
		return invalid("requests", "are missing")
	case p.Rate < 0 || p.Rate > 1e6:
		return invalid("rate", "is outside 1 to 1000000 a second")
	case p.For < minSpan || p.For > maxSpan:
		return invalid("duration", "is outside 1ms to 1h")
	case p.Warmup < 0 || p.Warmup > maxSpan:
		return invalid("warm-up", "is outside 0s to 1h")
	case p.Callers < 1 || p.Callers > most:
		return invalid("callers", fmt.Sprintf("are outside 1 to %d", most))
	case p.Conns < 1 || p.Conns > maxConns:
		return invalid("conns", fmt.Sprintf("are outside 1 to %d", maxConns))
	case p.Timeout < time.Millisecond || p.Timeout > time.Minute:
		return invalid("timeout", "is outside 1ms to 1m")
	case p.Most < 0:
		return invalid("most", "is below 0")
	case p.API == RLS:
		return nil
	case p.API == HTTP:
		p.Conns = p.Callers
	case p.API == Stream:
		p.Conns = min(p.Conns, client.MaxStreams)
	}
	return oneSet(p.Requests)
}

func orElse[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

func invalid(field, message string) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}
