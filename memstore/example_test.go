package memstore_test

import (
	"context"
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

func Example() {
	store := memstore.New(memstore.WithMaxKeys(100_000))
	defer func() { _ = store.Close() }()

	perMinute := weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 2, Window: weir.Minute})
	for range 3 {
		o, err := store.Take("tenant-42", perMinute, 1)
		fmt.Println(o.OK, o.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

// Charges of one entry pass together or not at all.
func ExampleStore_Decide() {
	store := memstore.New()
	defer func() { _ = store.Close() }()

	user := weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 100, Window: weir.Year})
	tenant := weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 10, Window: weir.Year})
	batch := &weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{
		{Key: "user-1", Meter: user, Cost: 20},
		{Key: "tenant-42", Meter: tenant, Cost: 20},
	}}}}
	store.Decide(context.Background(), batch)
	e := batch.Entries[0]
	fmt.Println("admitted:", e.Admitted)
	for i, o := range e.Outcomes {
		fmt.Println(e.Charges[i].Key, "fits:", o.OK, "granted:", o.Granted)
	}
	// Output:
	// admitted: false
	// user-1 fits: true granted: 0
	// tenant-42 fits: false granted: 0
}
