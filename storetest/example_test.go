package storetest_test

import (
	"context"
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/storetest"
)

// A Model answers as every store does, at an instant of the caller's choice.
func ExampleModel() {
	m := storetest.NewModel()
	m.SetClock(storetest.Base)
	limit, err := weir.ParseLimit("2/s burst 2")
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := weir.MustMeter(limit)
	for range 3 {
		b := weir.Batch{Entries: []weir.Entry{{
			Charges: []weir.Charge{{Key: "tenant", Meter: meter, Cost: 1}},
		}}}
		m.Decide(context.Background(), &b)
		e := b.Entries[0]
		fmt.Println(e.Admitted, e.Outcomes[0].Remaining, e.Outcomes[0].RetryAfter.Duration())
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 500ms
}
