package limiter_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/limiter"
	"github.com/weirlimit/weir/memstore"
)

// still is a clock that does not move, so that the examples print the same
// every time. A program leaves the option out.
func still() weir.Micros { return 1_700_000_000 * weir.Second }

func Example() {
	store := memstore.New(memstore.WithClock(still))
	lim, err := limiter.New(store, "login", weir.Limit{
		Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		d, err := lim.Allow(context.Background(), "tenant-42")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Verdict, d.Remaining, d.RetryAfter.Duration())
	}
	// Output:
	// allow 1 0s
	// allow 0 0s
	// deny 0 10ms
}

// Two windows on one key: a request passes both or is charged to neither.
func ExampleNew() {
	var limits []weir.Limit
	for _, text := range []string{"10/s burst 20", "3/d"} {
		l, err := weir.ParseLimit(text)
		if err != nil {
			log.Fatal(err)
		}
		limits = append(limits, l)
	}
	lim, err := limiter.New(memstore.New(memstore.WithClock(still)), "reports", limits...)
	if err != nil {
		log.Fatal(err)
	}
	for range 4 {
		d, err := lim.Allow(context.Background(), "tenant-42")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s by %s: %d left, retry after %s\n", d.Verdict, d.Limit, d.Remaining, d.RetryAfter.Duration())
	}
	// Output:
	// allow by 3/d: 2 left, retry after 0s
	// allow by 3/d: 1 left, retry after 0s
	// allow by 3/d: 0 left, retry after 0s
	// deny by 3/d: 0 left, retry after 24h0m0s
}

func ExampleLimiter_AllowN() {
	lim, err := limiter.New(memstore.New(memstore.WithClock(still)), "upload", weir.Limit{
		Algorithm: weir.GCRA, Count: 1000, Window: weir.Second, Burst: 5000,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, kilobytes := range []int64{4000, 2000, 6000} {
		d, err := lim.AllowN(context.Background(), "tenant-42", kilobytes)
		if err != nil {
			log.Fatal(err)
		}
		switch d.Reason {
		case weir.ReasonTooCostly:
			fmt.Println("never passes: more than", d.Limit.Capacity())
		case weir.ReasonExhausted:
			fmt.Println("try again in", d.RetryAfter.Duration())
		default:
			fmt.Println("go on")
		}
	}
	// Output:
	// go on
	// try again in 1s
	// never passes: more than 5000
}

// Check tells what each limit answered.
func ExampleLimiter_Check() {
	lim, err := limiter.New(
		memstore.New(memstore.WithClock(still)), "search",
		weir.Limit{Algorithm: weir.GCRA, Count: 10, Window: weir.Second},
		weir.Limit{Algorithm: weir.SlidingWindow, Count: 1000, Window: weir.Hour},
	)
	if err != nil {
		log.Fatal(err)
	}
	var d weir.Decision // kept for the next request, so that Charges is not allocated again
	// The same ID twice: a retry is not charged again.
	for range 2 {
		if err := lim.Check(context.Background(), limiter.Ask{Key: "tenant-42", Cost: 4, ID: "req-1"}, &d); err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Verdict, "replayed:", d.Replayed)
		for _, c := range d.Charges {
			fmt.Printf("  %s: %d used before, %d left\n", c.Limit, c.Outcome.Before.Used, c.Outcome.Remaining)
		}
	}
	// Output:
	// allow replayed: false
	//   10/s gcra: 0 used before, 6 left
	//   1000/h: 0 used before, 996 left
	// allow replayed: true
	//   10/s gcra: 0 used before, 6 left
	//   1000/h: 0 used before, 996 left
}

// A request that could not be served gives its units back.
func ExampleLimiter_Refund() {
	ctx := context.Background()
	lim, err := limiter.New(memstore.New(memstore.WithClock(still)), "mail", weir.Limit{
		Algorithm: weir.SlidingWindow, Count: 100, Window: weir.Day,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := lim.AllowN(ctx, "tenant-42", 30); err != nil {
		log.Fatal(err)
	}
	if err := lim.Refund(ctx, "tenant-42", 30, "mail-7"); err != nil {
		log.Fatal(err)
	}
	d, err := lim.Peek(ctx, "tenant-42")
	fmt.Println(d.Remaining, err)
	// Output: 100 <nil>
}

// At most so many at a time.
func ExampleLimiter_Acquire() {
	ctx := context.Background()
	lim, err := limiter.New(memstore.New(memstore.WithClock(still)), "export", weir.Limit{
		Algorithm: weir.Concurrency, Count: 1, Window: 30 * weir.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	export := func() (weir.Verdict, func() error) {
		d, release, err := lim.Acquire(ctx, "tenant-42")
		if err != nil {
			log.Fatal(err)
		}
		return d.Verdict, release
	}
	first, release := export()
	second, _ := export()
	if err := release(); err != nil {
		log.Fatal(err)
	}
	third, _ := export()
	fmt.Println(first, second, third)
	// Output: allow deny allow
}

// Decide once what happens when the store does not answer.
func ExampleLimiter_WithOnError() {
	store := memstore.New()
	lim, err := limiter.New(store, "login", weir.Limit{
		Algorithm: weir.GCRA, Count: 100, Window: weir.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	lim = lim.WithTimeout(5 * time.Millisecond).WithOnError(weir.Allow)

	_ = store.Close() // which stands for a store that is down
	d, err := lim.Allow(context.Background(), "tenant-42")
	fmt.Println(d.Verdict, d.Reason, err)
	// Output: allow degraded <nil>
}
