package weir

import "strings"

// Priority is how much a request matters to a service that cannot serve all:
// what is least is dropped first. The zero value is PriorityWrite, so that a
// request that nobody classified is neither the first to go nor protected.
type Priority int8

// The priorities, in the order in which they are dropped.
const (
	PriorityTest     Priority = iota - 2 // test mode, previews, what nobody waits for
	PriorityRead                         // what can be asked again
	PriorityWrite                        // what changes something
	PriorityCritical                     // what the service is there for
)

// Priorities is how many there are.
const Priorities = 4

var priorityNames = [Priorities]string{"test", "read", "write", "critical"}

// Index numbers the priorities from 0, the first to be dropped. What is out of
// range is brought into it.
func (p Priority) Index() int {
	return int(min(max(p, PriorityTest), PriorityCritical) - PriorityTest)
}

func (p Priority) String() string { return priorityNames[p.Index()] }

// ParsePriority reads a priority's name, in any case. ok is false for others.
func ParsePriority(name string) (p Priority, ok bool) {
	for i, known := range priorityNames {
		if strings.EqualFold(name, known) {
			return PriorityTest + Priority(i), true
		}
	}
	return PriorityWrite, false
}

// MethodPriority is what a request's HTTP method says of it: reading may be
// asked again, all else is a write. It is never critical: what is, somebody has
// to say.
func MethodPriority(method string) Priority {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return PriorityRead
	}
	return PriorityWrite
}
