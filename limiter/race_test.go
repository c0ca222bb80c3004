//go:build race

package limiter_test

// raced reports the race detector, under which sync.Pool forgets on purpose.
const raced = true
