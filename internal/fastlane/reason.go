package fastlane

// Reason says why a connection ended or a stream was refused. There are few, so
// that they can be the label of a metric.
type Reason uint8

// The reasons. The first are of connections, those from Overload on of streams;
// Malformed, TooLarge and Stalled are of both.
const (
	Done        Reason = iota // the peer closed, or the server was shut down
	BadProtocol               // the peer broke HTTP/2
	Handshake                 // no TLS, no preface or no SETTINGS in time
	Idle                      // no stream for long
	SlowReader                // the peer did not read what was written
	ResetFlood                // too many streams came to nothing
	FrameFlood                // too many frames that carry no request
	Overload                  // more streams than MaxStreams, or bytes than MaxBuffered
	Malformed                 // a request that is not HTTP or not gRPC
	TooLarge                  // headers or a message beyond the bound
	Incomplete                // a request that did not end in time
	Stalled                   // an answer there was no window for
	reasons
)

var reasonNames = [reasons]string{
	"done", "protocol", "handshake", "idle", "slow_reader", "reset_flood", "frame_flood",
	"overload", "malformed", "too_large", "incomplete", "stalled",
}

// String returns a short name, for a label.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Reasons are all there are.
func Reasons() []Reason {
	all := make([]Reason, reasons)
	for i := range all {
		all[i] = Reason(i)
	}
	return all
}
