package embedded_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/redisstore"
)

// TestHungStoreHoldsNobodyUp: while Redis hangs, a program with few requests, too
// few for the breaker, serves them without a second's wait for each.
func TestHungStoreHoldsNobodyUp(t *testing.T) {
	redis := redistest.Start(t)
	store, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{redis.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	limits, err := embedded.Parse("policies:\n  - {id: p, by: [ip], concurrency: 100, on_failure: open}\n", embedded.WithStore(store))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = limits.Close() }()
	h := httplimit.New(limits, httplimit.WithConcurrency())(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	took := func() time.Duration {
		began := time.Now()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Code != 200 {
			t.Error(w.Code)
		}
		return time.Since(began)
	}
	took()
	redis.Pause()
	defer redis.Resume()
	for i := range 4 {
		if d := took(); d > 500*time.Millisecond {
			t.Errorf("request %d took %v", i+1, d)
		}
	}
}
