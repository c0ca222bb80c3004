package identity_test

import (
	"net/http"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
)

var paths = []struct {
	name   string
	opts   identity.Options
	header []string
	allocs float64 // the address as text, and nothing else
}{
	{"peer", identity.Options{}, nil, 1},
	{"x-forwarded-for", identity.Options{}, []string{"X-Forwarded-For", "6.6.6.6, 203.0.113.7"}, 1},
	{"x-forwarded-for-v6", identity.Options{}, []string{"X-Forwarded-For", "2001:db8:1:2:3:4:5:6"}, 1},
	{
		"forwarded",
		identity.Options{ClientIP: identity.ClientIP{Header: identity.Forwarded}},
		[]string{"Forwarded", `for=6.6.6.6, for="203.0.113.7:80";proto=https`},
		1,
	},
	{"tenant-header", identity.Options{TenantHeader: "X-Tenant"}, []string{"X-Forwarded-For", "203.0.113.7", "X-Tenant", "acme"}, 1},
	{"api-key", identity.Options{}, []string{"X-Forwarded-For", "203.0.113.7", "X-Api-Key", "secret"}, 1},
}

func quiet(t testing.TB, o identity.Options) *identity.Resolver {
	t.Helper()
	o.Keys = keys(t)
	r, err := identity.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkDimensions(b *testing.B) {
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			r := quiet(b, p.opts)
			req := &http.Request{RemoteAddr: loop, Header: header(p.header...)}
			dst := make([]weir.Pair, 0, 8)
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = r.Dimensions(req, dst[:0])
			}
		})
	}
}

// Its name puts it among those that run without the race detector.
func TestDimensionsAllocateLittle(t *testing.T) {
	for _, p := range paths {
		r := quiet(t, p.opts)
		req := &http.Request{RemoteAddr: loop, Header: header(p.header...)}
		dst := make([]weir.Pair, 0, 8)
		if n := testing.AllocsPerRun(100, func() { dst, _ = r.Dimensions(req, dst[:0]) }); n > p.allocs {
			t.Errorf("%s: %v allocations, want %v", p.name, n, p.allocs)
		}
	}
}
