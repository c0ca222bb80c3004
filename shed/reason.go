package shed

// Reason is why a request was not let in.
type Reason uint8

// The reasons. The zero value is none: the request is let in.
const (
	Admitted  Reason = iota
	Overload         // its priority is below what is let in now
	LineFull         // there was no room in the line, or it was needed for one that matters more
	WaitedOut        // it waited for Options.MaxWait
	Gone             // its caller no longer waits
)

// Reasons is how many there are.
const Reasons = int(Gone) + 1

var reasonNames = [Reasons]string{"admitted", "overload", "line_full", "waited_out", "gone"}

func (r Reason) String() string {
	if int(r) >= Reasons {
		return "unknown"
	}
	return reasonNames[r]
}
