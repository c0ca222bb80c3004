package weir_test

import (
	"errors"
	"fmt"

	"github.com/weirlimit/weir"
)

func ExampleParseLimit() {
	for _, text := range []string{"100/s burst 200", "3000/m", "5/90s fixed_window", "20 concurrency 30s"} {
		limit, err := weir.ParseLimit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%-14s holds %d, window %v\n", limit.Algorithm, limit.Capacity(), limit.Window.Duration())
	}
	// Output:
	// gcra           holds 200, window 1s
	// sliding_window holds 3000, window 1m0s
	// fixed_window   holds 5, window 1m30s
	// concurrency    holds 20, window 30s
}

// What is wrong is said with the field at fault.
func ExampleParseLimit_error() {
	_, err := weir.ParseLimit("100/5w")
	var e *weir.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, "in", e.Field)
		fmt.Println(e)
	}
	// Output:
	// invalid in window
	// window: unknown unit "w" in "5w" (use s, m, h or d, for example 30s)
}

// A meter is a limit that was checked; its interval is exact.
func ExampleNewMeter() {
	meter, err := weir.NewMeter(weir.Limit{Algorithm: weir.GCRA, Count: 3, Window: weir.Second, Burst: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(meter.Limit, "holds", meter.Capacity)
	fmt.Printf("a unit each %d + %d/%d us\n", meter.Whole, meter.Rem, meter.Den)

	_, err = weir.NewMeter(weir.Limit{Algorithm: weir.GCRA, Window: weir.Second})
	fmt.Println(err)
	// Output:
	// 3/s burst 5 holds 5
	// a unit each 333333 + 1/3 us
	// count: 0 is outside 1 to 10000000 for gcra
}

func ExampleEntry_Validate() {
	meter := weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 100, Window: weir.Minute})
	entry := weir.Entry{Charges: []weir.Charge{
		{Key: "tenant:acme", Meter: meter, Cost: 1},
		{Key: "tenant:acme", Meter: meter, Cost: 2},
	}}
	fmt.Println(entry.Validate())
	// Output: charges[1].key: is also the key of charges[0] (add the costs and charge the key once)
}
