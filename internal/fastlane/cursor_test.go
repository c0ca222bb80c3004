package fastlane

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCursor cuts messages anywhere, and asks at each cut whether the next ends in
// what follows.
func TestCursor(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var all []byte
		var ends []int
		for range 1 + rnd.IntN(4) {
			all = append(all, message(string(bytes.Repeat([]byte{'z'}, rnd.IntN(20))))...)
			ends = append(ends, len(all))
		}
		var c cursor
		for at := 0; at < len(all); {
			for ends[0] <= at {
				ends = ends[1:]
			}
			to := at + rnd.IntN(len(all)-at+1)
			if got, want := c.completes(all[at:to]), to >= ends[0]; got != want {
				t.Fatalf("from %d to %d of %x: %t", at, to, all, got)
			}
			n := rnd.IntN(8)
			if n = min(n, len(all)-at); n > 0 {
				c.pass(all[at : at+n])
				at += n
			}
		}
	}
}
