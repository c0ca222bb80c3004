package policy

import "unsafe"

// view is b as a string, without a copy. A plan's keys are only ever appended
// to until it is reset, and nobody keeps a key that long: weir.Store's contract
// ends with the answer.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
