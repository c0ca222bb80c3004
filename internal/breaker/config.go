package breaker

import "github.com/weirlimit/weir"

// Config says when a Breaker opens and for how long. A field that is zero or
// below takes its default, so the zero Config is the usual one.
type Config struct {
	// Consecutive failures open it, once they have gone on for Span: thousands of
	// calls a second fail twenty times in one stall of some milliseconds, which is
	// over before a breaker would be. Defaults 20, and no span.
	Consecutive int
	Span        weir.Micros
	// MaxShare is the share of failures, over the last 30 s, above which it
	// opens; it counts once there are MinCalls calls and failures of a weight of
	// MinFailures. Defaults 0.01, 500 and 20: with fewer, one short stall is more
	// than its share. Where calls are too seldom for that, Consecutive alone finds
	// a server that is dead.
	MaxShare    float64
	MinCalls    int
	MinFailures int

	// Cooldown is how long it stays open at first. Each failed probe doubles it,
	// up to MaxCooldown. Defaults 250 ms and 5 s.
	Cooldown    weir.Micros
	MaxCooldown weir.Micros
	// ProbeFor is how long a probe may go unheard of before it counts as failed.
	// Default 1 s.
	ProbeFor weir.Micros

	// Jitter returns a number in [0, 1): a fifth of the cooldown times that is
	// added to it, so that a fleet does not probe at once. nil adds nothing.
	Jitter func() float64
}

// jitterShare is the most that is added to a cooldown, as a share of it.
const jitterShare = 0.2

func (c Config) withDefaults() Config {
	c.Consecutive = orDefault(c.Consecutive, 20)
	c.MaxShare = orDefault(c.MaxShare, 0.01)
	c.MinCalls = orDefault(c.MinCalls, 500)
	c.MinFailures = orDefault(c.MinFailures, 20)
	c.Cooldown = orDefault(c.Cooldown, 250*weir.Millisecond)
	c.MaxCooldown = max(orDefault(c.MaxCooldown, 5*weir.Second), c.Cooldown)
	c.ProbeFor = orDefault(c.ProbeFor, weir.Second)
	return c
}

func orDefault[T int | float64 | weir.Micros](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}
