package policy

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

// What is fetched ahead is what is looked at then.
func TestLikely(t *testing.T) {
	nodes := make(map[string]*envoyNode)
	for i := range 10_000 {
		value := fmt.Sprint("t", i)
		nodes[value] = &envoyNode{value: value}
	}
	x := newExactIndex(nodes, nil)
	others := 0
	for value, n := range nodes {
		p := x.likely(value)
		if p == nil {
			t.Fatalf("%s: nothing is fetched", value)
		}
		if p.value.node != n {
			others++
		}
		if got := x.find(value); got != n {
			t.Fatalf("%s: found %v", value, got)
		}
	}
	if others > 10 { // a tag has 18 bits
		t.Errorf("of %d values another's place is fetched", others)
	}
	strangers := 0
	for i := range 10_000 {
		value := fmt.Sprint("s", i)
		if x.likely(value) != nil {
			strangers++
		}
		if x.find(value) != nil {
			t.Fatalf("%s is found", value)
		}
	}
	if strangers > 10 {
		t.Errorf("for %d of those who are not there a place is fetched", strangers)
	}
}

// Approach is a hint: it changes nothing, whatever is asked.
func TestApproach(t *testing.T) {
	text := "domain: many\ndescriptors:\n"
	for i := range farPlaces {
		text += fmt.Sprintf("  - {key: rule, value: r%d, rate_limit: {unit: day, requests_per_unit: %d}}\n", i, i+1)
	}
	f, problems := ParseEnvoy("many.yaml", []byte(text))
	if HasErrors(problems) {
		t.Fatal(problems)
	}
	set, problems := Compile([]*File{{Name: "many.yaml", Envoy: f}}, Options{})
	if HasErrors(problems) {
		t.Fatal(problems)
	}
	pair := func(name, value string) weir.Descriptor {
		return weir.Descriptor{Pairs: []weir.Pair{{Name: name, Value: value}}}
	}
	for _, r := range []*weir.Request{
		{},
		{Domain: "none"},
		{Domain: "many"},
		{Domain: "many", Policy: "p", Descriptors: []weir.Descriptor{pair("rule", "r1")}},
		{Domain: "many", Descriptors: []weir.Descriptor{{}}},
		{Domain: "many", Descriptors: []weir.Descriptor{pair("other", "r1"), pair("rule", "none")}},
		{Domain: "many", Descriptors: []weir.Descriptor{pair("rule", "r1"), pair("rule", "r2")}},
	} {
		var before, after Plan
		wantErr := set.Resolve(r, &before)
		if n := testing.AllocsPerRun(10, func() { set.Approach(r) }); n > 0 {
			t.Errorf("%+v: %v allocations", r, n)
		}
		if err := set.Resolve(r, &after); fmt.Sprint(err) != fmt.Sprint(wantErr) || len(after.Charges) != len(before.Charges) {
			t.Errorf("%+v: %d charges, %v; before %d, %v", r, len(after.Charges), err, len(before.Charges), wantErr)
		}
	}
}
