package redisstore

import "github.com/weirlimit/weir"

// WithClock makes the script take its instant from clock instead of Redis.
func WithClock(o Options, clock func() weir.Micros) Options {
	o.clock = clock
	return o
}

// IsClosed tells whether s was closed.
func IsClosed(s *Store) bool { return s.closed.Load() }
