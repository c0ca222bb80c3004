package shed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/weirlimit/weir/shed"
)

func ExampleWorker() {
	worker, err := shed.NewWorker(shed.Options{Places: 1, Waiting: -1}) // one at a time, and nobody waits
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	first, why := worker.Enter(ctx, shed.Read)
	fmt.Println(why)
	_, why = worker.Enter(ctx, shed.Critical)
	fmt.Println(why)
	first.Leave()
	again, why := worker.Enter(ctx, shed.Test)
	fmt.Println(why)
	again.Leave()
	// Output:
	// admitted
	// line_full
	// admitted
}

func ExampleClassifier() {
	classes, err := shed.NewClassifier(shed.Rules{
		Routes: []shed.Route{
			{Pattern: "POST /v1/charges", Priority: shed.Critical},
			{Pattern: "/v1/reports*", Priority: shed.Test},
		},
		Header: "X-Priority",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range []shed.Request{
		{Method: "POST", Path: "/v1/charges"},
		{Method: "GET", Path: "/v1/charges"},
		{Method: "GET", Path: "/v1/reports/7"},
		{Method: "DELETE", Path: "/v1/notes/7"},
		{Method: "DELETE", Path: "/v1/notes/7", Header: []string{"test"}},
		{Method: "DELETE", Path: "/v1/notes/7", Header: []string{"critical"}}, // is not believed
	} {
		fmt.Println(classes.Classify(&r))
	}
	// Output:
	// critical
	// read
	// test
	// write
	// test
	// write
}
