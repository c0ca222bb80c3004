package pages_test

import (
	"testing"

	"github.com/weirlimit/weir/internal/pages"
)

// Whatever the size and where it begins, what is in memory stays.
func TestLarge(t *testing.T) {
	all := make([]byte, 9<<20)
	for i := range all {
		all[i] = byte(i * 7)
	}
	for _, memory := range [][]byte{nil, all[:1], all[5:100], all[1 : 3<<20], all[4097 : 8<<20], all} {
		pages.Large(memory)
	}
	for i := range all {
		if all[i] != byte(i*7) {
			t.Fatalf("byte %d is %d", i, all[i])
		}
	}
}
