package shed

import (
	"time"

	"github.com/weirlimit/weir"
)

// The defaults of Options.
const (
	DefaultTarget   = 20 * time.Millisecond
	DefaultInterval = 100 * time.Millisecond
	DefaultRecovery = time.Second
	DefaultMaxWait  = time.Second
)

// The bounds of Options.
const (
	MaxPlaces   = 1 << 20
	MaxWaiting  = 1 << 20
	maxDuration = time.Hour
)

// Options are what a Worker goes by. Places is required.
type Options struct {
	// Places is how many requests are served at once: as many as this process
	// does well, by a load test; 1 to MaxPlaces.
	Places int
	// Waiting is how many may wait for a place: as many as Places unless set,
	// none when negative. The last quarter is for critical requests only, the one
	// before it for them and writes, and so on.
	Waiting int
	// Target is the wait that is fine, and Interval how long the oldest may have
	// waited longer before the next priority is shed.
	Target, Interval time.Duration
	// Recovery is how long the wait must be at most half of Target before the
	// priority that was shed last is let in again.
	Recovery time.Duration
	// MaxWait is the longest wait; who has waited so long is sent away.
	MaxWait time.Duration
	// Shadow lets everything in at once and counts what would be shed: an
	// estimate, since what would wait is served meanwhile.
	Shadow bool
	Hooks  Hooks
}

// Hooks are how a Worker is watched. A nil func is not called. They are called on
// the request's own goroutine, and must not block.
type Hooks struct {
	// Shed is told of a request that was sent away or, in shadow, would have
	// been, at its end.
	Shed func(p Priority, why Reason, shadow bool)
	// Waited is told of a request that was let in after a wait.
	Waited func(p Priority, wait time.Duration)
}

// withDefaults returns o whole, or what is wrong with it.
func (o Options) withDefaults() (Options, error) {
	if o.Places < 1 || o.Places > MaxPlaces {
		return o, invalid("places", "must be from 1 to 1048576", "as many requests as this process serves well at once")
	}
	switch {
	case o.Waiting == 0:
		o.Waiting = o.Places
	case o.Waiting < 0:
		o.Waiting = 0
	case o.Waiting > MaxWaiting:
		return o, invalid("waiting", "must be at most 1048576", "a line that long is never served in time")
	}
	for _, d := range []struct {
		name string
		at   *time.Duration
		or   time.Duration
	}{
		{"target", &o.Target, DefaultTarget},
		{"interval", &o.Interval, DefaultInterval},
		{"recovery", &o.Recovery, DefaultRecovery},
		{"max_wait", &o.MaxWait, DefaultMaxWait},
	} {
		switch {
		case *d.at == 0:
			*d.at = d.or
		case *d.at < time.Millisecond || *d.at > maxDuration:
			return o, invalid(d.name, "must be from 1ms to 1h", "leave it out for "+d.or.String())
		}
	}
	return o, nil
}

func invalid(field, message, hint string) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
