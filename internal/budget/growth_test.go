//go:build unix

package budget_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// most is how far BenchmarkKeys goes; 10 million keys take some 2 GB.
var most = flag.Int("keys", 1_000_000, "the largest number of keys in memory")

// BenchmarkKeys is engine.Check in memory as keys grow, all of which are there,
// asked for in random order: by Envoy's default, a sliding window, and by a
// bucket.
func BenchmarkKeys(b *testing.B) {
	for _, c := range []struct{ name, limit string }{
		{"sliding", "{unit: hour, requests_per_unit: 10000000}"},
		{"bucket", "{unit: day, requests_per_unit: 1000, burst: 100000}"},
	} {
		text := "domain: default\ndescriptors:\n  - {key: tenant, rate_limit: " + c.limit + "}\n"
		for n := 1000; n <= *most; n *= 10 {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				e := grown(b, max(n, memstore.DefaultMaxKeys), text)
				a := newAsker("default", "tenant")
				for i := range n {
					a.value(0, i)
					a.check(b, e)
				}
				i := uint64(0)
				loop(b, func() {
					i++
					a.value(0, int(mix(i)%uint64(n)))
					a.check(b, e)
				})
			})
		}
	}
}

// perDomain is how many rules a domain has at most, and counters how many are
// asked for, whatever the number of rules.
const (
	perDomain = 10_000
	counters  = 10_000
)

// BenchmarkRules is engine.Check in memory as rules grow, of which the requests
// meet all, or as many as there are counters.
func BenchmarkRules(b *testing.B) {
	for n := 10; n <= 100_000; n *= 10 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := grown(b, memstore.DefaultMaxKeys, ruleTexts(n)...)
			askers := make([]*asker, (n+perDomain-1)/perDomain)
			for i := range askers {
				askers[i] = newAsker(domainOf(i*perDomain), "rule", "tenant")
			}
			ask := func(counter int) {
				rule := counter * max(1, n/counters) % n
				a := askers[rule/perDomain]
				a.value(0, rule)
				a.value(1, counter)
				a.check(b, e)
			}
			for i := range counters {
				ask(i)
			}
			i := uint64(0)
			loop(b, func() {
				i++
				ask(int(mix(i) % counters))
			})
		})
	}
}

func domainOf(rule int) string { return fmt.Sprint("domain", rule/perDomain) }

// ruleTexts are files of n rules, each with a counter for each tenant.
func ruleTexts(n int) (texts []string) {
	for from := 0; from < n; from += perDomain {
		var b strings.Builder
		fmt.Fprintf(&b, "domain: %s\ndescriptors:\n", domainOf(from))
		for i := from; i < min(n, from+perDomain); i++ {
			fmt.Fprintf(&b, "  - {key: rule, value: t%09d, descriptors: [{key: tenant, rate_limit: {unit: hour, requests_per_unit: 10000000}}]}\n", i)
		}
		texts = append(texts, b.String())
	}
	return texts
}

// grown is an engine in memory with metrics, and policies in Envoy's format.
func grown(b *testing.B, keys int, texts ...string) *engine.Engine {
	b.Helper()
	var files []*policy.File
	for i, text := range texts {
		name := fmt.Sprintf("%d.yaml", i)
		f, problems := policy.ParseEnvoy(name, []byte(text))
		if policy.HasErrors(problems) {
			b.Fatal(problems)
		}
		files = append(files, &policy.File{Name: name, Envoy: f})
	}
	set, problems := policy.Compile(files, policy.Options{})
	if policy.HasErrors(problems) {
		b.Fatal(problems)
	}
	m := obs.New(obs.Options{})
	e, err := engine.New(engine.Options{Store: memstore.New(memstore.WithMaxKeys(keys)), Hooks: m.Hooks()})
	if err != nil {
		b.Fatal(err)
	}
	rules := make([]obs.RuleInfo, 0, len(set.Rules()))
	for _, r := range set.Rules() {
		rules = append(rules, obs.RuleInfo{Domain: r.Domain, ID: r.ID})
	}
	m.SetLoaded(e.Swap(set), set.Version(), rules)
	return e
}

// asker asks with values that it writes where the last were, as a server reads
// them from a connection: that a key is seldom seen is then no cost of asking.
type asker struct {
	r    weir.Request
	d    weir.Decision
	text [2][10]byte
}

func newAsker(domain string, keys ...string) *asker {
	a := &asker{r: weir.Request{Domain: domain, Descriptors: make([]weir.Descriptor, 1)}}
	for i, k := range keys {
		a.r.Descriptors[0].Pairs = append(a.r.Descriptors[0].Pairs,
			weir.Pair{Name: k, Value: unsafe.String(&a.text[i][0], len(a.text[i]))})
	}
	return a
}

// value makes the i-th value t and n in nine digits.
func (a *asker) value(i, n int) {
	text := &a.text[i]
	text[0] = 't'
	for p := len(text) - 1; p > 0; p-- {
		text[p] = byte('0' + n%10)
		n /= 10
	}
}

func (a *asker) check(b *testing.B, e *engine.Engine) {
	if err := e.Check(context.Background(), &a.r, &a.d); err != nil || !a.d.Allowed() {
		b.Fatal(err, a.d.Verdict)
	}
}

// mix spreads a number over all 64 bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
