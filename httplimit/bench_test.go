package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/memstore"
)

// many is a limit that nothing here exhausts.
const many = "policies:\n  - {id: p, by: [ip], limits: [10000000/365d burst 10000000], on_failure: open}\n"

// discard is a ResponseWriter that is used again.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

var nothing = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

func TestAllocationsPerRequest(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items under the race detector, so that it is not about this package")
	}
	for _, tc := range []struct {
		name    string
		options []httplimit.Option
		want    float64
	}{
		{"headers", nil, 1},
		{"no headers", []httplimit.Option{httplimit.WithoutHeaders()}, 0},
	} {
		h := httplimit.New(decider(t, many), tc.options...)(nothing)
		// A server's requests have contexts that end, without a deadline.
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), &discard{h: http.Header{}}
		if n := testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, r) }); n > tc.want {
			t.Errorf("%s: %v allocations a request", tc.name, n)
		}
	}
}

func BenchmarkServeHTTP(b *testing.B) {
	requests := make([]*http.Request, 10_000)
	for i := range requests {
		requests[i] = httptest.NewRequest(http.MethodGet, "/v1/orders", nil)
		requests[i].RemoteAddr = "10.1." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250) + ":4321"
	}
	for _, bc := range []struct {
		name    string
		options []httplimit.Option
	}{
		{"headers", nil},
		{"no-headers", []httplimit.Option{httplimit.WithoutHeaders()}},
		{"after", []httplimit.Option{httplimit.WithCostAfter(httplimit.BytesCost(1))}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			h := httplimit.New(decider(b, many, memstore.WithShards(0)), bc.options...)(nothing)
			w := &discard{h: http.Header{}}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				clear(w.h)
				h.ServeHTTP(w, requests[i])
				if i++; i == len(requests) {
					i = 0
				}
			}
		})
	}
}
