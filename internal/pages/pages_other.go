//go:build !linux

package pages

// Large does nothing.
func Large([]byte) {}
