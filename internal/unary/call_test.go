package unary_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir/internal/unary"
)

// Same is equality, wherever two messages differ.
func TestSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "a")
		b := bytes.Clone(a)
		if !unary.Same(a, b) {
			t.Fatal("not the same as its copy")
		}
		for i := range b {
			b[i]++
			if unary.Same(a, b) {
				t.Fatalf("the same, though byte %d differs", i)
			}
			b[i]--
		}
		if unary.Same(a, append(b, 0)) || len(a) > 0 && unary.Same(a, a[1:]) {
			t.Fatal("the same, though one is longer")
		}
	})
}
