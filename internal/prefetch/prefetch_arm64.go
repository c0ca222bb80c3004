package prefetch

// Lines asks for the 128 bytes from an address on.
//
//go:noescape
func Lines(address uintptr)
