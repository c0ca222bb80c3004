package policy

import (
	"testing"
	"unsafe"
)

// What a decision needs of a rule and of a node on the way to it lies together,
// and begins with a cache line: objects of whole lines are placed so.
func TestHotFieldsLieTogether(t *testing.T) {
	const line = 64
	if n := unsafe.Sizeof(Rule{}); n > 256 || n+8 <= 192 {
		t.Errorf("a rule is %d bytes, which are not placed at lines: see Go's size classes", n)
	}
	if n := unsafe.Offsetof(Rule{}.first) + unsafe.Sizeof(keyRest{}); n > 2*line {
		t.Errorf("what a decision needs of a rule takes %d bytes", n)
	}
	if n := unsafe.Sizeof(envoyNode{}); n%line != 0 {
		t.Errorf("a node is %d bytes", n)
	}
	if n := unsafe.Offsetof(envoyNode{}.up); n > line {
		t.Errorf("what matching needs of a node takes %d bytes", n)
	}
	if n := unsafe.Sizeof(exactPlace{}); n%(2*line) != 0 {
		t.Errorf("a place is %d bytes", n)
	}
	if n := unsafe.Offsetof(exactPlace{}.rule); n != 2*line {
		t.Errorf("a rule is %d bytes behind its place", n)
	}
}
