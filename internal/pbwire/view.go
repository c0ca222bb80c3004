package pbwire

import "unsafe"

// View returns a string on b's own bytes. Whoever calls it keeps b as it is for
// as long as the string, or a part of it, is in use.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
