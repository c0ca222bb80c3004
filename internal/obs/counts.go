package obs

import (
	"slices"
	"strings"
	"time"

	"github.com/weirlimit/weir"
)

// RuleInfo names a rule. Both texts are an operator's, from a policy.
type RuleInfo struct{ Domain, ID string }

// The first rows of a grid; those of the rules follow.
const (
	rowOther = iota // rules without a row of their own
	rowNone         // no rule
	firstRule
)

// Labels of what has no name of its own.
const (
	other = "other"
	none  = "none"
)

// The slots of a decision: a cache line per verdict, with a slot per source.
const (
	sources       = int(weir.SourceSwitch) + 1
	decisionShift = 4
	perVerdict    = 8
	slotUndecided = 1<<decisionShift - 1 // no verdict: a bug in who decided
)

// A row of degraded answers has a slot per code.
const (
	codes     = int(weir.CodeBreaker) + 1
	codeShift = 5
)

// maxCells bounds the stripes of a set with many rules: 16,384 rows of 128
// bytes are 2 MiB.
const maxCells = 16 << 10

// counts are the counters of one set of policies.
type counts struct {
	version string
	rules   []RuleInfo // those with rows, as loaded
	labels  []RuleInfo // the same, as exported; empty where the row is part of other
	since   time.Time

	decisions grid
	degraded  grid
}

func newCounts(version string, rules []RuleInfo, stripes int, since time.Time) *counts {
	rows := len(rules) + firstRule
	for stripes > 1 && stripes*rows > maxCells {
		stripes /= 2
	}
	return &counts{
		version: version, rules: rules, labels: label(rules), since: since,
		decisions: newGrid(rows, decisionShift, stripes),
		degraded:  newGrid(rows, codeShift, 1),
	}
}

// label makes the rules' names fit to be exported: text, and each only once,
// or the whole scrape would fail. It never should come to that; a compiled set
// has no two rules of one name.
func label(rules []RuleInfo) []RuleInfo {
	labels := make([]RuleInfo, len(rules))
	taken := map[RuleInfo]bool{{}: true, {ID: other}: true, {ID: none}: true}
	for i, r := range rules {
		l := RuleInfo{Domain: text(r.Domain), ID: text(r.ID)}
		if taken[l] {
			continue
		}
		taken[l] = true
		labels[i] = l
	}
	return labels
}

// text is s as a label's value.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// row returns the labels of a row of the grids.
func (c *counts) row(row int) RuleInfo {
	switch {
	case row == rowNone:
		return RuleInfo{ID: none}
	case row >= firstRule:
		return c.labels[row-firstRule]
	}
	return RuleInfo{}
}

// holds tells whether c is what a set of this version and these rules counts in.
func (c *counts) holds(version string, rules []RuleInfo) bool {
	return c.version == version && slices.Equal(c.rules, rules)
}

// rowOf is the row of a rule's index; -1 is none, and what is out of range is
// for add to put right.
func rowOf(ruleIndex int32) uint32 { return uint32(ruleIndex + firstRule) }

func decisionSlot(v weir.Verdict, s weir.Source) uint32 {
	if v != weir.Allow && v != weir.Deny {
		return slotUndecided
	}
	return uint32(v-weir.Allow)*perVerdict + sourceSlot(s)
}

// sourceSlot reads what it does not know as the store, like Source.String.
func sourceSlot(s weir.Source) uint32 {
	if int(s) >= sources {
		return uint32(weir.SourceStore)
	}
	return uint32(s)
}

// codeSlot reads what it does not know as internal, like Code.String.
func codeSlot(c weir.Code) uint32 {
	if int(c) >= codes {
		return uint32(weir.CodeInternal)
	}
	return uint32(c)
}
