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
	// What every decision under the rule needs comes first, in two cache lines:
	// with many rules the wait for them is most of what one costs.

	// ID names the rule in decisions and metrics, and is unique in its domain:
	// a policy's id, or the dotted path of an Envoy descriptor (key_value.key).
	ID   string
	Name string // Envoy's rate_limit.name; else the ID
	// Windows are the limits, in the order written; each is one charge. Empty
	// when Unlimited, and when limits depend on a plan: see ByPlan.
	Windows   []*weir.Meter
	Index     int32     // numbers the rules of a Set from 0; see Set.Rules
	Mode      weir.Mode // Enforce or Shadow; Always in Envoy compatibility
	Fail      FailMode
	Quota     bool           // Envoy's quota_mode: denies only when all quota rules do
	CountsAll bool           // in Envoy compatibility: counts what does not fit and what another rule denies too
	Metadata  map[string]any // Envoy: merged into dynamic_metadata
	Deadline  time.Duration  // 0: the engine's
	Scope     string         // the dimensions that share a counter, joined by commas
	first     keyRest        // of the first limit it was compiled with

	Unlimited bool // matches, is not counted, always passes
	Denies    bool // Envoy's requests_per_unit 0: matches, is not counted, never passes
	Lease     bool // units of a counter may be taken ahead by whoever asks for many
	Sheds     bool // a denial is the service's doing: 503, not 429
	FailSet   bool // Fail was written down, not defaulted
	private   bool // counters differ by a private value

	DetailedMetric bool
	ValueToMetric  bool

	Domain string
	At     Position
	// ByPlan are the limits of each plan; the request's plan picks one, else
	// Windows apply.
	ByPlan   map[string][]*weir.Meter
	Zero     weir.Limit // when it Denies: the limit as written, Count 0
	Replaces []string   // names of rules that this one takes the place of
	others   *[]keyRest // of the other limits; a pointer, so that a rule is whole cache lines
}

// Problem is something wrong, or doubtful, in what was written.
type Problem struct {
	At      Position `json:"at"`
	Warning bool     `json:"warning,omitempty"` // the file applies all the same
	Code    string   `json:"code"`              // a stable word, such as duplicate-key
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}
