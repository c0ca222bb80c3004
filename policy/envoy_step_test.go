package policy

import (
	"fmt"
	"strings"
	"testing"
)

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
	x := newExactIndex(want)
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
		if run++; x.slots[i].node == nil {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 64 {
		t.Errorf("%d slots in a row are taken: the hash does not spread", longest)
	}
	if (&exactIndex{slots: make([]exactSlot, 2)}).find("x") != nil {
		t.Error("found in an empty table")
	}
}
