package httplimit_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/shed"
)

// What is sent away is told when to come back.
func ExampleShed() {
	worker, err := shed.NewWorker(shed.Options{Places: 1, Waiting: -1}) // one at a time, and nobody waits
	if err != nil {
		log.Fatal(err)
	}
	var handler http.Handler
	mux := http.NewServeMux()
	mux.HandleFunc("GET /list", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /report", func(http.ResponseWriter, *http.Request) { // takes the only place
		for _, path := range []string{"/list", "/healthz"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			fmt.Println(path, w.Code, w.Header().Get("Retry-After") != "")
		}
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	handler = httplimit.Shed(worker, nil)(mux)

	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/report", nil))
	shedded := worker.Stats().Shed[shed.Read.Index()][shed.LineFull]
	fmt.Println("reads sent away:", shedded)
	// Output:
	// /list 503 true
	// /healthz 200 false
	// reads sent away: 1
}

// All four: what a tenant may send and have in progress is answered with 429,
// what the fleet and this process can do with 503.
func ExampleWithPriorities() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/charges", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/charges", func(http.ResponseWriter, *http.Request) {})

	// begin docs/load-shedding.md
	classes, err := shed.NewClassifier(shed.Rules{
		Routes: []shed.Route{
			{Pattern: "POST /v1/charges", Priority: shed.Critical},
			{Pattern: "/v1/reports*", Priority: shed.Test},
		},
		Header: "X-Priority", // lowers; raises only with TrustHeader
	})
	if err != nil {
		log.Fatal(err)
	}
	worker, err := shed.NewWorker(shed.Options{Places: 64})
	if err != nil {
		log.Fatal(err)
	}
	limits, err := embedded.Open("../examples/policies/load-shedding.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = limits.Close() }()
	limit := httplimit.New(
		limits,
		httplimit.WithDomain("payments"),
		httplimit.WithDimensions(httplimit.Header("tenant", "X-Tenant")), // set by the gateway
		httplimit.WithPriorities(classes),
		httplimit.WithConcurrency(),
	)
	handler := httplimit.Shed(worker, classes)(limit(mux))
	// end

	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, "/v1/charges", nil)
		r.Header.Set("X-Tenant", "acme")
		handler.ServeHTTP(w, r)
		fmt.Println(method, w.Code, w.Header().Get("X-RateLimit-Policy"))
	}
	// Output:
	// GET 200 tenant-busy
	// POST 200 tenant-busy
}
