//go:build !(linux && amd64)

package ticks

// Read returns 0.
func Read() uint64 { return 0 }

// Usable returns false.
func Usable() bool { return false }
