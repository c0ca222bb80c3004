package policy

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/weirlimit/weir"
)

// plainTexts have plain policies among others, before them and behind.
var plainTexts = map[string]struct {
	text  string
	plain int
}{
	"one":               {"policies:\n  - {id: a, by: [tenant], limits: [10/s, 100/m]}\n", 1},
	"for all":           {"policies:\n  - {id: a, limits: [10/s]}\n  - {id: b, by: [user_class], limits: [5/h], mode: shadow}\n", 2},
	"one counter twice": {"policies:\n  - {id: a, by: [tenant], limits: [10/s], on_failure: closed, deadline: 5ms}\n", 1},
	"behind":            {"policies:\n  - {id: a, by: [tenant], limits: [10/s]}\n  - {id: b, by: [tenant, region], limits: [10/s]}\n  - {id: c, limits: [10/s]}\n", 1},
	"behind a filed one": {"policies:\n  - {id: a, match: {tenant: acme}, limits: [10/s]}\n" +
		"  - {id: b, by: [tenant], limits: [10/s]}\n  - {id: c, limits: [9/s]}\n", 0},
	"before a filed one": {"policies:\n  - {id: a, by: [tenant], limits: [10/s]}\n  - {id: b, match: {tenant: acme}, limits: [10/s]}\n", 1},
	"required":           {"policies:\n  - {id: a, by: [tenant], require: true, limits: [10/s]}\n", 1},
	"by route":           {"policies:\n  - {id: a, by: [route], limits: [10/s]}\n", 0},
	"by plan":            {"policies:\n  - {id: a, by: [plan], limits: [10/s]}\n", 0},
	"by a private value": {"policies:\n  - {id: a, by: [ip], limits: [10/s]}\n", 0},
	"at a cost":          {"policies:\n  - {id: a, by: [tenant], limits: [10/s], cost: {'*': 2}}\n", 0},
	"in progress":        {"policies:\n  - {id: a, by: [tenant], limits: [10/s], concurrency: 3}\n", 0},
}

// A plain policy is charged as any other: what the short way gives is what the
// long one does.
func TestPlainPolicies(t *testing.T) {
	pair := func(text ...string) []weir.Pair {
		var out []weir.Pair
		for i := 0; i < len(text); i += 2 {
			out = append(out, weir.Pair{Name: text[i], Value: text[i+1]})
		}
		return out
	}
	limit := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second})
	descriptors := []weir.Descriptor{
		{},
		{Pairs: pair("tenant", "acme")},
		{Pairs: pair("tenant", "acme", "region", "eu")},
		{Pairs: pair("tenant", "")},
		{Pairs: pair("region", "eu", "tenant", "a}b%c")},
		{Pairs: pair("tenant", "acme", "tenant", "other")},
		{Pairs: pair("user_class", "x", "tenant", "acme"), Cost: 7, HasCost: true},
		{Pairs: pair("tenant", "acme"), HasCost: true},
		{Pairs: pair("tenant", "acme"), Refund: true},
		{Pairs: pair("tenant", "acme"), Spent: true},
		{Refund: true, Spent: true},
		{Pairs: pair("tenant", "acme"), Cost: -1, HasCost: true},
		{Pairs: pair("tenant", "acme"), Limit: limit},
		{Pairs: pair("route", "/a", "plan", "free", "ip", "10.0.0.1")},
	}
	for name, tc := range plainTexts {
		short, long := compileTexts(t, Options{}, tc.text), compileTexts(t, Options{}, tc.text)
		if n := short.native[DefaultDomain].plain; n != tc.plain {
			t.Errorf("%s: %d plain policies, want %d", name, n, tc.plain)
		}
		long.native[DefaultDomain].plain = 0
		for i := range descriptors {
			for j := range descriptors {
				r := &weir.Request{Domain: DefaultDomain, ID: "1", Descriptors: []weir.Descriptor{descriptors[i], descriptors[j]}}
				var got, want Plan
				gotErr, wantErr := short.Resolve(r, &got), long.Resolve(r, &want)
				if a, b := told(&got, gotErr), told(&want, wantErr); !reflect.DeepEqual(a, b) {
					t.Errorf("%s, %+v:\nshort %v\nlong  %v", name, r.Descriptors, a, b)
				}
			}
		}
	}
}

// told is all that a plan says, as text.
func told(p *Plan, err error) []string {
	out := []string{fmt.Sprint(err, p.Fail, p.Deadline, p.Tallied, len(p.Descriptors))}
	for _, c := range p.Charges {
		out = append(out, fmt.Sprint(c.Key, c.Meter.Limit, c.Cost, c.Mode, c.Group, c.Twin))
	}
	for _, u := range p.Uses {
		out = append(out, fmt.Sprint(u.Rule.ID, u.Meter.Limit, u.Descriptor, u.Charge, u.Cost, u.Parts))
	}
	return out
}

// Overrides have limits of their own, which a plain policy does not look for.
func TestNoPlainPoliciesWithOverrides(t *testing.T) {
	set := compileTexts(t, Options{Overrides: NoOverrides{}}, plainTexts["one"].text)
	if n := set.native[DefaultDomain].plain; n != 0 {
		t.Errorf("%d plain policies", n)
	}
}
