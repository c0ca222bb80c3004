package httplimit_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
)

// limits are policies that are part of the program. Use embedded.Open for a
// file that is followed.
func limits(text string) *embedded.Limits {
	l, err := embedded.Parse(text)
	if err != nil {
		panic(err)
	}
	return l
}

// send sends a GET for path; fields are name, value, name, value.
func send(h http.Handler, path string, fields ...string) {
	w := get(h, path, fields...)
	fmt.Println(w.Code, w.Header().Get("X-RateLimit-Remaining"))
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })

func ExampleNew() {
	checker := limits("policies:\n  - {id: per-address, by: [ip], limits: [2/h], on_failure: open}\n")
	h := httplimit.New(checker)(hello)
	send(h, "/")
	send(h, "/")
	send(h, "/")
	// Output:
	// 200 1
	// 200 0
	// 429 0
}

// Behind a gateway that sets X-Tenant itself, tenants are told apart by it.
func ExampleHeader() {
	checker := limits("policies:\n  - {id: per-tenant, by: [tenant], limits: [1/h], on_failure: open}\n")
	h := httplimit.New(checker, httplimit.WithDimensions(httplimit.Header("tenant", "X-Tenant")))(hello)
	send(h, "/", "X-Tenant", "acme")
	send(h, "/", "X-Tenant", "initech")
	send(h, "/", "X-Tenant", "acme")
	// Output:
	// 200 0
	// 200 0
	// 429 0
}

// A handler that is registered with a pattern knows its route.
func ExamplePathValue() {
	checker := limits(`
policies:
  - id: per-order
    match: {route: "GET /orders/{order}"}
    by: [order]
    limits: 1/h
    on_failure: open
`)
	mux := http.NewServeMux()
	mux.Handle("GET /orders/{order}", httplimit.New(checker, httplimit.WithDimensions(httplimit.PathValue("order")))(hello))
	send(mux, "/orders/7")
	send(mux, "/orders/8")
	send(mux, "/orders/7")
	// Output:
	// 200 0
	// 200 0
	// 429 0
}

// A dimension of one's own: the user that an earlier handler has authenticated.
func ExampleWithDimensions() {
	user := func(r *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
		name, _, ok := r.BasicAuth() // checked before
		if !ok {
			return dst, nil
		}
		return append(dst, weir.Pair{Name: "user", Value: name}), nil
	}
	checker := limits("policies:\n  - {id: per-user, by: [user], limits: [1/h], on_failure: open}\n")
	h := httplimit.New(checker, httplimit.WithDimensions(user, httplimit.RemoteIP(), httplimit.Constant("region", "eu")))(hello)
	send(h, "/", "Authorization", "Basic YW5uOng=")
	send(h, "/", "Authorization", "Basic YW5uOng=")
	// Output:
	// 200 0
	// 429 0
}

func ExampleRemoteIP() {
	checker := limits("policies:\n  - {id: per-address, by: [ip], limits: [1/h], on_failure: open}\n")
	h := httplimit.New(checker, httplimit.WithDimensions(httplimit.RemoteIP()))(hello)
	for _, addr := range []string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:1::1]:1"} {
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.RemoteAddr = addr
		h.ServeHTTP(w, r)
		fmt.Println(addr, w.Code)
	}
	// Output:
	// [2001:db8::1]:1 200
	// [2001:db8::2]:1 429
	// [2001:db8:1::1]:1 200
}

// One unit for each request and one for each kilobyte that it was answered with.
func ExampleWithCostAfter() {
	checker := limits("policies:\n  - {id: traffic, by: [ip], limits: [10/h], on_failure: open}\n")
	big := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 5000)) })
	h := httplimit.New(checker, httplimit.WithCostAfter(httplimit.BytesCost(1000)))(big)
	send(h, "/") // 1, and then 5
	send(h, "/") // 1, and then 5: two more than there are
	send(h, "/")
	// Output:
	// 200 9
	// 200 3
	// 429 0
}

// What failed on this side is not counted.
func ExampleWithRefund() {
	checker := limits("policies:\n  - {id: per-address, by: [ip], limits: [2/h], on_failure: open}\n")
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	h := httplimit.New(checker, httplimit.WithRefund(httplimit.ServerErrors))(broken)
	send(h, "/")
	send(h, "/")
	send(h, "/")
	// Output:
	// 502 1
	// 502 1
	// 502 1
}

func ExampleWithSkip() {
	checker := limits("policies:\n  - {id: per-address, by: [ip], limits: [1/h], on_failure: open}\n")
	h := httplimit.New(checker,
		httplimit.WithSkip(httplimit.Paths("/healthz", "/static/*")),
		httplimit.WithSkip(httplimit.Methods(http.MethodOptions)))(hello)
	send(h, "/")
	send(h, "/")
	send(h, "/healthz")
	// Output:
	// 200 0
	// 429 0
	// 200
}

func ExampleWithDenial() {
	checker := limits("policies:\n  - {id: per-address, by: [ip], limits: [1/h], on_failure: open}\n")
	h := httplimit.New(checker, httplimit.WithDenial(func(w http.ResponseWriter, _ *http.Request, d *weir.Decision) {
		http.Error(w, "slow down: "+d.Limit.String(), http.StatusTooManyRequests)
	}))(hello)
	get(h, "/")
	w := get(h, "/")
	fmt.Print(w.Code, " ", w.Body)
	// Output: 429 slow down: 1/h
}

// One report at a time for each address, for as long as its handler runs.
func ExampleWithConcurrency() {
	checker := limits("policies:\n  - {id: reports, by: [ip], concurrency: 1, on_failure: open}\n")
	var h http.Handler
	h = httplimit.New(checker, httplimit.WithConcurrency())(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/report" {
			fmt.Println("meanwhile:", get(h, "/other").Code)
		}
	}))
	fmt.Println("report:", get(h, "/report").Code)
	fmt.Println("afterwards:", get(h, "/other").Code)
	// Output:
	// meanwhile: 429
	// report: 200
	// afterwards: 200
}

// A client that keeps to what a server says: what was denied is sent again when
// the server said that it would pass.
func ExampleTransport() {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer srv.Close()
	client := &http.Client{Transport: &httplimit.Transport{
		Waiting: func(_ *http.Request, d time.Duration, again bool) { fmt.Println("again:", again, d >= time.Second) },
	}}
	resp, err := client.Get(srv.URL)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output:
	// again: true true
	// 200
}
