package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
)

var silent = embedded.WithLogger(slog.New(slog.DiscardHandler))

// Three lines protect a handler.
func ExampleOpen() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "hello") })

	limits, err := embedded.Open("testdata/policies.yaml", silent)
	if err != nil {
		panic(err)
	}
	protected := httplimit.New(limits)(mux)

	defer func() { _ = limits.Close() }()
	for range 3 {
		w := httptest.NewRecorder()
		protected.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 200
	// 429
}

// Policies that are part of the program.
func ExampleParse() {
	limits, err := embedded.Parse("policies:\n  - {id: per-address, by: [ip], limits: 1/h, on_failure: open}\n")
	if err != nil {
		panic(err)
	}
	defer func() { _ = limits.Close() }()
	h := httplimit.New(limits)(http.NotFoundHandler())
	for range 2 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Code)
	}
	_, err = embedded.Parse("policies:\n  - {id: p, limits: 10/fortnight}\n")
	fmt.Println(err != nil)
	// Output:
	// 404
	// 429
	// true
}

// Files are followed; Reload is for who cannot wait.
func ExampleLimits_Reload() {
	dir, err := os.MkdirTemp("", "policies")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "policies.yaml")
	save := func(limit string) {
		text := "policies:\n  - {id: p, by: [ip], limits: " + limit + ", on_failure: open}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	save("1/h")
	limits, err := embedded.Open(path, silent)
	if err != nil {
		panic(err)
	}
	defer func() { _ = limits.Close() }()
	before := limits.Version()
	save("2/h")
	fmt.Println(limits.Reload(context.Background()), limits.Version() != before)
	save("many")
	fmt.Println(limits.Reload(context.Background()) != nil, "and the last good ones stay in force")
	// Output:
	// <nil> true
	// true and the last good ones stay in force
}
