package policy

import "github.com/weirlimit/weir"

// Overrides knows the counters whose limits are not what their policy says: a
// tenant that support has given more for a day. It is asked first, before plan
// and default.
//
// An override is in force from its effective_at on and until just before its
// expires_at; one without an expires_at does not end. Of several in force for
// one counter, that with the latest effective_at counts.
//
// Limits is called for every policy that applies to every request: it must not
// block, must not allocate, and is safe for concurrent use. It reads no clock:
// now is Plan.Now, the one instant of that resolution. It must not keep values.
type Overrides interface {
	// Limits returns the limits in force at now for the counter that the policy
	// keeps for values, which stand in the order of the policy's by. ok is false
	// when nothing is overridden; no limits and ok is an unlimited counter.
	//
	// Concurrency limits come last. Each has the timeout of one that the policy
	// has in its own limits or a plan's: a release looks nowhere else.
	Limits(domain, policy string, values []string, now weir.Micros) (limits []*weir.Meter, ok bool)
}

// NoOverrides is the Overrides that overrides nothing.
type NoOverrides struct{}

// Limits implements Overrides.
func (NoOverrides) Limits(string, string, []string, weir.Micros) ([]*weir.Meter, bool) {
	return nil, false
}

var _ Overrides = NoOverrides{}
