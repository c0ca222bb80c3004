package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirlimit/weir"
)

// FuzzParseNative feeds the parser anything. What it accepts compiles, resolves,
// is linted and explained; what it refuses has a place and a reason.
func FuzzParseNative(f *testing.F) {
	for _, glob := range []string{"testdata/native/bad/*.yaml", examples + "/*.yaml"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(resolveText))
	f.Add([]byte(shardsText))
	f.Add([]byte(leaseText))
	requests := []*weir.Request{
		request("tenant=acme user=u plan=pro method=POST path=/v1/orders/7 id=1"),
		request("a=b ip=::1 region=eu-1 route=x"),
		request(""),
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := ParseNative("f", data)
		for _, p := range problems {
			if p.At.File != "f" || p.At.Line < 1 || p.At.Column < 1 || p.Code == "" || p.Message == "" {
				t.Fatalf("problem %+v", p)
			}
		}
		if file == nil {
			if !HasErrors(problems) {
				t.Fatal("refused without a reason")
			}
			return
		}
		files := []*File{{Name: "f", Native: file}}
		set, problems := Compile(files, Options{})
		if len(problems) > 0 || len(set.Rules()) != len(file.Policies) {
			t.Fatalf("parsed and does not compile: %v", problems)
		}
		_ = Lint(files)
		var p Plan
		for _, r := range requests {
			r.Domain = file.Domain
			err := set.Resolve(r, &p)
			e := weir.Entry{Charges: p.Charges, ID: r.ID}
			if err == nil && len(p.Charges) > 0 {
				if err := e.Validate(); err != nil {
					t.Fatalf("charges that no store takes: %v", err)
				}
			}
			if text := Explain(set, r).Text(); text == "" {
				t.Fatal("nothing explained")
			}
		}
	})
}

// FuzzResolveNative feeds requests of any bytes to policies of every kind.
func FuzzResolveNative(f *testing.F) {
	file, problems := ParseNative("f", []byte(resolveText))
	if file == nil {
		f.Fatal(problems)
	}
	set, _ := Compile([]*File{{Name: "f", Native: file}}, Options{})
	f.Add("tenant", "acme", "path", "/v1/orders/*?x", "", "POST", int64(1))
	f.Add("route", "POST /v1/orders/7", "ip", "\x00", "busy", "get", int64(-1))
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2, policy, method string, cost int64) {
		r := &weir.Request{Domain: DefaultDomain, Policy: policy, Cost: cost, ID: "1", Descriptors: []weir.Descriptor{{
			Pairs: []weir.Pair{{Name: n1, Value: v1}, {Name: n2, Value: v2}, {Name: "method", Value: method}},
		}}}
		var p Plan
		err := set.Resolve(r, &p)
		if err != nil {
			if code := weir.CodeOf(err); code != weir.CodeInvalid && code != weir.CodePolicyNotFound {
				t.Fatalf("%v", err)
			}
			return
		}
		if e := (weir.Entry{Charges: p.Charges, ID: r.ID}); len(p.Charges) > 0 && e.Validate() != nil {
			t.Fatalf("charges that no store takes: %v", e.Validate())
		}
	})
}
