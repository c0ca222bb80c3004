package weir

// Verdict is what became of a request.
type Verdict uint8

// The verdicts. The zero value is invalid: a Decision nobody filled must not
// read as an admission.
const (
	_ Verdict = iota
	Allow
	Deny
)

func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	}
	return "undecided"
}

// Reason says why.
type Reason uint8

// The reasons.
const (
	ReasonNone      Reason = iota // allowed within every limit
	ReasonExhausted               // a limit has no room for the cost now
	ReasonTooCostly               // the cost is above what the limit ever holds
	ReasonNoRule                  // nothing applies to the request
	ReasonDegraded                // the store did not answer; the fail mode did
	ReasonForced                  // the force-open switch is on
	ReasonShed                    // the service has no room for it: 503, where a limit of the caller's is 429
)

var reasonNames = [...]string{"none", "exhausted", "too_costly", "no_rule", "degraded", "forced", "shed"}

func (r Reason) String() string {
	if int(r) >= len(reasonNames) {
		return "none"
	}
	return reasonNames[r]
}

// Source says where a decision was made.
type Source uint8

// The sources.
const (
	SourceStore Source = iota
	SourceDenyCache
	SourceLease
	SourceBackstop
	SourceShadow
	SourceSwitch
)

var sourceNames = [...]string{"store", "deny_cache", "lease", "backstop", "shadow", "switch"}

func (s Source) String() string {
	if int(s) >= len(sourceNames) {
		return "store"
	}
	return sourceNames[s]
}

// Decision is the answer to a Request. The fields from Rule to RetryAfter
// describe the limit that binds: the one that denied, or the one with least left.
type Decision struct {
	Verdict       Verdict
	Reason        Reason
	Source        Source
	Rule          string // the rule's name
	Scope         string // the dimensions that share the rule's counter, such as tenant,route
	Limit         Limit
	Remaining     int64
	ResetAfter    Micros
	RetryAfter    Micros // exact; Never when the request can never pass
	Delay         Micros // leaky_bucket: wait this long before going on
	PolicyVersion string
	At            Micros // the wall clock of whoever decided, when it began; 0 when not known
	Replayed      bool
	Charges       []Charged // every charge, in order, also on denial
	Matched       []Matched // one per descriptor of the request

	// RuleIndex and SetSerial number the binding rule within the loaded set, so
	// that a metric finds its counter without looking at a name; -1 for none.
	RuleIndex int32
	SetSerial uint32
}

// Matched is what a descriptor of a request met. Which charges are its own is
// said by Charged.Descriptor.
type Matched struct {
	Rule      string         // the rule's id; empty when none applies
	Name      string         // the rule's name, where it was given one
	Unlimited bool           // matched, not counted
	Shadow    bool           // the rule is in shadow: it denies nothing
	Zero      *Limit         // a limit of 0, which nothing fits into: matched, not counted
	Metadata  map[string]any // the rule's own; not to be changed
}

// Charged is one charge of a Decision with its outcome.
type Charged struct {
	Rule       string
	Descriptor int // index into Request.Descriptors; 0 for a native request
	Limit      Limit
	Cost       int64
	Mode       Mode
	Outcome    Outcome
}

// Allowed reports whether the request may pass.
func (d *Decision) Allowed() bool { return d.Verdict == Allow }
