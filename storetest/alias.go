package storetest

import "unsafe"

// alias returns a string on b's own bytes, as an edge makes it that reads keys
// out of a network buffer without copying them. Overwriting b afterwards shows
// whether a store kept the string: storetest is the one place besides memstore
// that gives up memory safety, to find stores that rely on it.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
