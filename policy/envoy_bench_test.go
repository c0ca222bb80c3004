package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// manyRules is a file of n rules: one bare, the others by value.
func manyRules(n int) string {
	b := &strings.Builder{}
	b.WriteString("domain: d\ndescriptors:\n- key: tenant\n  rate_limit: {unit: second, requests_per_unit: 1}\n")
	for i := range n - 1 {
		fmt.Fprintf(b, "- key: tenant\n  value: t%06d\n  rate_limit: {unit: second, requests_per_unit: %d}\n", i, 1+i%1000)
	}
	return b.String()
}

// busy is a request of three descriptors, as Envoy sends them.
func busy() *weir.Request {
	return envoyAsk("tenant=t000123", "tenant=acme", "outer=x,inner=y1")
}

func busySet(t testing.TB, rules int) *Set {
	return envoySet(t, Options{MergeDomains: true}, manyRules(rules), tree)
}

// TestEnvoyResolveAllocatesNothing holds for all that a request can meet.
func TestEnvoyResolveAllocatesNothing(t *testing.T) {
	s := envoySet(t, Options{}, tree)
	flags := envoySet(t, Options{}, overridden)
	withLimit := envoyAsk("tenant=acme,path=/", "nobody=1", "other=1", "tenant=2")
	withLimit.Descriptors[0].Limit, withLimit.Descriptors[1].Limit = overrideWith, overrideWith
	long := strings.Repeat("v", 300)
	for _, tc := range []struct {
		name string
		set  *Set
		ask  *weir.Request
	}{
		{"literal", s, envoyAsk("exact=a")},
		{"bare", s, envoyAsk("exact=b")},
		{"wildcards", s, envoyAsk("wild=acd", "wild=p1q2r", "wild=other")},
		{"nested", s, envoyAsk("outer=x,inner=y1", "outer=z,inner=only")},
		{"long values", s, envoyAsk("exact="+long, "outer=x,inner="+long)},
		{"no match", s, envoyAsk("nobody=1", "outer=x,inner=1,more=2")},
		{"overrides and replaces", flags, withLimit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p Plan
			ask := func() {
				if err := tc.set.Resolve(tc.ask, &p); err != nil {
					t.Fatal(err)
				}
			}
			ask()
			if n := testing.AllocsPerRun(100, ask); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// TestEnvoyManyRules: of a hundred thousand rules each is found.
func TestEnvoyManyRules(t *testing.T) {
	const n = 100_000
	f := &EnvoyFile{Domain: "d", Descriptors: make([]EnvoyDescriptor, n)}
	for i := range f.Descriptors {
		limit := EnvoyLimit{Requests: int64(1 + i), Window: weir.Second}
		f.Descriptors[i] = EnvoyDescriptor{Key: "tenant", Value: fmt.Sprint(i), Limits: []EnvoyLimit{limit}}
	}
	s, problems := Compile([]*File{{Envoy: f}}, Options{})
	if len(problems) > 0 || len(s.Rules()) != n+1 {
		t.Fatalf("%d rules, %v", len(s.Rules()), problems)
	}
	var p Plan
	r := envoyAsk("tenant=")
	for i := 0; i < n; i += 997 {
		r.Descriptors[0].Pairs[0].Value = fmt.Sprint(i)
		if err := s.Resolve(r, &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Charges) != 1 || p.Charges[0].Meter.Limit.Count != int64(1+i) {
			t.Fatalf("%d: %s", i, tell(&p))
		}
	}
}

func BenchmarkEnvoyResolve(b *testing.B) {
	for _, rules := range []int{1, 1_000, 100_000} {
		b.Run(fmt.Sprintf("rules=%d", rules), func(b *testing.B) {
			s, r := busySet(b, rules), busy()
			var p Plan
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Resolve(r, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEnvoyLoad(b *testing.B) {
	data := []byte(manyRules(100_000))
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if f, problems := ParseEnvoy("f", data); f == nil {
				b.Fatal(problems)
			}
		}
	})
	f, _ := ParseEnvoy("f", data)
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s, problems := Compile([]*File{{Envoy: f}}, Options{}); s == nil {
				b.Fatal(problems)
			}
		}
	})
}
