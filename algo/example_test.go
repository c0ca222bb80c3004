package algo_test

import (
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// A state starts empty and is changed in place. The clock is the caller's.
func ExampleDecide() {
	limit, err := weir.ParseLimit("10/s burst 2")
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := weir.MustMeter(limit)

	var state algo.State
	now := 1_700_000_000 * weir.Second
	for range 3 {
		o := algo.Decide(meter, &state, now, 1, algo.Owner{})
		fmt.Println(o.OK, "left", o.Remaining, "retry after", o.RetryAfter.Duration())
	}
	o := algo.Decide(meter, &state, now+100*weir.Millisecond, 1, algo.Owner{})
	fmt.Println(o.OK, "left", o.Remaining)
	// Output:
	// true left 1 retry after 0s
	// true left 0 retry after 0s
	// false left 0 retry after 100ms
	// true left 0
}

// The charges of one request pass together or not at all.
func ExampleSettle() {
	meter := func(text string) *weir.Meter {
		limit, err := weir.ParseLimit(text)
		if err != nil {
			panic(err)
		}
		return weir.MustMeter(limit)
	}
	charges := []weir.Charge{
		{Key: "tenant", Meter: meter("100/s burst 100"), Cost: 30},
		{Key: "user", Meter: meter("20/m"), Cost: 30},
	}
	states := make([]algo.State, len(charges))
	outcomes := make([]weir.Outcome, len(charges))
	now := 1_700_000_000 * weir.Second

	fmt.Println("admitted:", algo.Settle(charges, algo.Owner{}, states, now, outcomes))
	for i, o := range outcomes {
		fmt.Println(charges[i].Key, o.OK, "left", o.Remaining)
	}
	// Output:
	// admitted: false
	// tenant true left 100
	// user false left 20
}

// A stored state is a few bytes, the same in every store.
func ExampleAppendState() {
	limit, err := weir.ParseLimit("10/s burst 20")
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := weir.MustMeter(limit)

	var state algo.State
	now := 1_700_000_000 * weir.Second
	algo.Decide(meter, &state, now, 3, algo.Owner{})
	stored := algo.AppendState(nil, meter, &state)

	var read algo.State
	if err := algo.ParseState(stored, meter, &read); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(stored), "bytes,", read.Used, "units, until", read.Expiry(meter)-now)
	// Output: 12 bytes, 3 units, until 300000
}
