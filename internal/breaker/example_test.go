package breaker_test

import (
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

func Example() {
	b := breaker.New(breaker.Config{}) // Jitter is left out, for the sake of the output
	b.Count(0, 0, 20, 20)
	fmt.Println(b.State())

	now := 250 * weir.Millisecond
	probe, ok := b.Allow(now)
	fmt.Println(b.State(), ok, probe.Probe())
	_, ok = b.Allow(now)
	fmt.Println(ok)

	b.Done(now, probe, false)
	fmt.Println(b.State())
	// Output:
	// open
	// half_open true true
	// false
	// closed
}
