package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// crowd writes a file of n policies that share nothing with the request below,
// and the few that apply to it.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("policies:\n")
	b.WriteString("- {id: tenant, by: tenant, limits: [100/s burst 200, 100000/h]}\n")
	b.WriteString("- {id: special, match: {tenant: acme, plan: pro}, by: [tenant, user], limits: 5/s}\n")
	b.WriteString("- {id: orders, match: {route: POST /v1/orders/*}, by: [tenant, route], limits: 5/s, cost: {POST /v1/*: 2}}\n")
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "- {id: p%d, match: {tenant: t%d, region: eu}, by: tenant, limits: 5/s}\n", i, i)
		case 1:
			fmt.Fprintf(&b, "- {id: p%d, match: {route: POST /v1/r%06d/*}, by: tenant, limits: 5/s}\n", i, i)
		case 2:
			fmt.Fprintf(&b, "- {id: p%d, match: {user: u%06d-*}, by: tenant, limits: 5/s}\n", i, i)
		case 3:
			fmt.Fprintf(&b, "- {id: p%d, match: {route: /v2/r%d, plan: pro}, by: tenant, limits: 5/s}\n", i, i)
		}
	}
	return b.String()
}

func crowdRequest() *weir.Request {
	return request("tenant=acme user=u000123x region=eu plan=pro method=POST path=/v1/orders/77 api_key=k ip=10.0.0.1")
}

// TestIndexIsFlat counts what a request is compared with, which does not depend
// on how many policies there are.
func TestIndexIsFlat(t *testing.T) {
	for _, n := range []int{10, 1000, 5000} {
		set := compileTexts(t, Options{}, crowd(n))
		d := set.native[DefaultDomain]
		r := crowdRequest()
		var q query
		d.ask(r.Descriptors[0].Pairs, &q)
		if found := d.index.find(&q, nil); len(found) != 2 || len(d.index.general) != 1 {
			t.Errorf("of %d policies, %d found and %d general, want 2 and 1", n, len(found), len(d.index.general))
		}
		if x := d.index.routes; len(x.lengths) > 2 || len(d.index.dims["user"].lengths) > 1 {
			t.Errorf("%d lengths of routes, %d of users", len(x.lengths), len(d.index.dims["user"].lengths))
		}
		var p Plan
		if err := set.Resolve(r, &p); err != nil || len(p.Charges) != 4 {
			t.Errorf("%v %v", charges(&p), err)
		}
	}
}

func TestResolveNativeDoesNotAllocate(t *testing.T) {
	set := compileTexts(t, Options{}, crowd(100))
	busy := compileTexts(t, Options{}, resolveText)
	var p Plan
	for name, tc := range map[string]struct {
		set *Set
		r   *weir.Request
	}{
		"crowd":    {set, crowdRequest()},
		"named":    {set, request("policy=tenant tenant=acme")},
		"plans":    {busy, request("tenant=acme user=u region=eu-1 method=POST path=/v1/orders/7 ip=::1")},
		"slots":    {busy, request("tenant=acme slots=yes quiet=yes weigh=yes id=1 ip=::1 path=/free/x")},
		"none":     {busy, &weir.Request{Domain: DefaultDomain}},
		"nowhere":  {busy, &weir.Request{Domain: "nowhere"}},
		"refund":   {busy, request("tenant=acme ip=::1 refund")},
		"long key": {busy, request("tenant=" + strings.Repeat("x", 1000))},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := tc.set.Resolve(tc.r, &p); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	release := request("tenant=acme slots=yes id=1 ip=::1")
	if n := testing.AllocsPerRun(100, func() {
		if err := busy.ResolveRelease(release, &p); err != nil || len(p.Charges) != 1 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("release: %v allocations", n)
	}
}

func BenchmarkResolveNative(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint("policies=", n), func(b *testing.B) {
			f, problems := ParseNative("f", []byte(crowd(n)))
			if f == nil {
				b.Fatal(problems)
			}
			set, _ := Compile([]*File{{Native: f}}, Options{})
			r := crowdRequest()
			var p Plan
			b.ReportAllocs()
			for b.Loop() {
				if err := set.Resolve(r, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseNative(b *testing.B) {
	data := []byte(crowd(100_000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if f, problems := ParseNative("f", data); f == nil {
			b.Fatal(problems)
		}
	}
}

func BenchmarkCompileNative(b *testing.B) {
	f, _ := ParseNative("f", []byte(crowd(100_000)))
	for b.Loop() {
		if _, problems := Compile([]*File{{Native: f}}, Options{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
