package policy

import (
	"time"

	"github.com/weirlimit/weir"
)

// FailMode is how a rule is answered when the store cannot answer.
type FailMode uint8

// The fail modes. Open is the default: a limiter must not be the outage.
const (
	FailOpen   FailMode = iota // pass, within a local backstop
	FailClosed                 // deny, with 503 semantics
	FailLocal                  // a stricter local backstop, for logins and the like
)

// Position is where something was written. Line and Column count from 1; 0 is
// unknown.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Rule is one compiled rule: what matched requests are charged.
type Rule struct {
	// ID names the rule in decisions and metrics, and is unique in its domain:
	// a policy's id, or the dotted path of an Envoy descriptor (key_value.key).
	ID     string
	Index  int32 // numbers the rules of a Set from 0; see Set.Rules
	Domain string
	Name   string // Envoy's rate_limit.name; else the ID
	At     Position

	// Windows are the limits, in the order written; each is one charge. Empty
	// when Unlimited, and when limits depend on a plan: see ByPlan.
	Windows []*weir.Meter
	// ByPlan are the limits of each plan; the request's plan picks one, else
	// Windows apply.
	ByPlan map[string][]*weir.Meter

	Mode      weir.Mode  // Enforce or Shadow; Always in Envoy compatibility
	CountsAll bool       // in Envoy compatibility: counts what does not fit and what another rule denies too
	Quota     bool       // Envoy's quota_mode: denies only when all quota rules do
	Unlimited bool       // matches, is not counted, always passes
	Denies    bool       // Envoy's requests_per_unit 0: matches, is not counted, never passes
	Zero      weir.Limit // when it Denies: the limit as written, Count 0
	Replaces  []string   // names of rules that this one takes the place of

	Lease bool // units of a counter may be taken ahead by whoever asks for many
	Sheds bool // a denial is the service's doing: 503, not 429

	Fail     FailMode
	FailSet  bool          // written down, not defaulted
	Deadline time.Duration // 0: the engine's

	Scope          string         // the dimensions that share a counter, joined by commas
	Metadata       map[string]any // Envoy: merged into dynamic_metadata
	DetailedMetric bool
	ValueToMetric  bool

	private bool      // counters differ by a private value
	rests   []keyRest // of the limits it was compiled with
}

// Problem is something wrong, or doubtful, in what was written.
type Problem struct {
	At      Position `json:"at"`
	Warning bool     `json:"warning,omitempty"` // the file applies all the same
	Code    string   `json:"code"`              // a stable word, such as duplicate-key
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}
