package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// Steps end where a walk down the tree does, whatever stands beside and below.
func TestStepsFollowTheTree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	keys, values := []string{"a", "b"}, []string{"", "x", "y", "x*", "*"}
	var level func(b *strings.Builder, indent string, depth int)
	level = func(b *strings.Builder, indent string, depth int) {
		for _, k := range keys[:1+rnd.IntN(3)/2] { // most levels have one key
			for _, v := range values[:1+rnd.IntN(3)*2] { // many have no value, or none with a '*'
				if rnd.IntN(5) < 2 {
					continue
				}
				fmt.Fprintf(b, "%s- key: %s\n", indent, k)
				if v != "" {
					fmt.Fprintf(b, "%s  value: %q\n", indent, v)
				}
				if rnd.IntN(3) > 0 {
					fmt.Fprintf(b, "%s  rate_limit: {unit: hour, requests_per_unit: %d}\n", indent, rnd.IntN(5)+1)
				}
				if depth > 1 && rnd.IntN(2) == 0 {
					var below strings.Builder
					if level(&below, indent+"    ", depth-1); below.Len() > 0 {
						fmt.Fprintf(b, "%s  descriptors:\n%s", indent, below.String())
					}
				}
			}
		}
	}
	met := 0
	for range 300 {
		b := strings.Builder{}
		b.WriteString("domain: d\ndescriptors:\n")
		if rnd.IntN(4) == 0 {
			b.WriteString("  - {key: c, rate_limit: {unit: hour, requests_per_unit: 1}}\n")
		}
		if level(&b, "  ", 3); !strings.Contains(b.String(), "key") {
			continue
		}
		f, problems := ParseEnvoy("f", []byte(b.String()))
		if HasErrors(problems) {
			t.Fatal(problems, b.String())
		}
		set, problems := Compile([]*File{{Name: "f", Envoy: f}}, Options{})
		if HasErrors(problems) {
			t.Fatal(problems)
		}
		d := set.envoy["d"]
		for range 100 {
			pairs := make([]weir.Pair, rnd.IntN(4))
			for i := range pairs {
				pairs[i] = weir.Pair{Name: []string{"a", "a", "b", "c"}[rnd.IntN(4)], Value: []string{"x", "x", "y", "xx", "z"}[rnd.IntN(5)]}
			}
			want, _ := d.find(pairs)
			got := d.locate(pairs)
			if got.node != want {
				t.Fatalf("%v: %+v, want %+v\n%s", pairs, got.node, want, b.String())
			}
			if want != nil && got != (found{want, want.rule, want.counts, want.replaces}) {
				t.Fatalf("%v: %+v is not of the node", pairs, got)
			}
			if want != nil {
				met++
			}
		}
	}
	if met < 1000 {
		t.Errorf("%d met a node: too few to tell", met)
	}
}

// The table finds what a map of the same values does, whatever their length, and
// needs few looks for it.
func TestExactIndexIsAMap(t *testing.T) {
	want := map[string]*envoyNode{}
	for i := range 2000 {
		for _, value := range []string{
			fmt.Sprint(i), fmt.Sprintf("t%09d", i), fmt.Sprintf("/v1/orders/%d/items", i),
			strings.Repeat("x", 31-len(fmt.Sprint(i))) + fmt.Sprint(i), strings.Repeat("x", i%90) + "-", strings.Repeat("y", 40) + fmt.Sprint(i),
		} {
			want[value] = &envoyNode{value: value}
		}
	}
	x := newExactIndex(want, nil)
	for value, node := range want {
		if got := x.find(value); got != node {
			t.Fatalf("%q is not found", value)
		}
		for _, other := range []string{value + "x", value[1:], "z" + value[1:]} {
			if got := x.find(other); got != want[other] {
				t.Fatalf("%q: %v, want %v", other, got, want[other])
			}
		}
	}
	longest, run := 0, 0
	for i := range x.slots {
		if run++; x.slots[i] == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 64 {
		t.Errorf("%d slots in a row are taken: the hash does not spread", longest)
	}
	if (&exactIndex{slots: make([]uint32, 2)}).find("x") != nil {
		t.Error("found in an empty table")
	}
}
