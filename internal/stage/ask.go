package stage

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
)

// Ask is a request on its way to the store, or on its way back.
type Ask struct {
	// Now is when the request came, on a monotonic clock that starts at a second
	// or more: 0 is no instant.
	Now weir.Micros
	// Took is from Now to the store's answer; 0 before there is one.
	Took weir.Micros
	// Serial numbers the set of policies that the charges come from. What was
	// learnt under another is not known any more.
	Serial uint32
	// Entry is what the store is asked. A stage that answers fills what the store
	// would.
	Entry *weir.Entry
	Hints []Hint // one per charge
}

// Hint is what a stage needs to know of a charge beside itself.
type Hint struct {
	ID   keytable.ID // of the charge's key
	Rule int32       // the rule's index within the set
	// Lease: the policy allows that units are taken ahead.
	Lease bool
	// Frees: others may free units at any time, by a refund, a release or an undo
	// across slots, so that a denial is not to be believed for long.
	Frees bool
	// Spent: the units are used already, and are to be counted whatever is known.
	Spent bool
	// Strict: the policy fails by the stricter backstop.
	Strict bool
}
