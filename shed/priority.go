package shed

import "github.com/weirlimit/weir"

// Priority is how much a request matters. The zero value is Write.
type Priority = weir.Priority

// The priorities, in the order in which they are shed.
const (
	Test     = weir.PriorityTest
	Read     = weir.PriorityRead
	Write    = weir.PriorityWrite
	Critical = weir.PriorityCritical
)
