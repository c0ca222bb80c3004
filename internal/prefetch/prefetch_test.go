package prefetch_test

import (
	"testing"
	"unsafe"

	"github.com/weirlimit/weir/internal/prefetch"
)

// Any number will do, whatever is there.
func TestLines(t *testing.T) {
	memory := make([]byte, 256)
	at := uintptr(unsafe.Pointer(&memory[0]))
	for _, address := range []uintptr{0, 1, at, at + 1, at + 255, ^uintptr(0), 1 << 47} {
		prefetch.Lines(address)
	}
}
