package respond

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// Recurring sets the fields of one answer after another. Most answers differ
// from an earlier one in what is left and until when, and in nothing else: the
// other values are written once and shared by all headers, whose owners are not
// to change them in place. The zero value is ready to use; it is not safe for
// concurrent use.
type Recurring struct {
	// Only says which fields an admission has. A denial has all of them.
	Only Family

	known  [8]*recurrent
	strays uint8 // answers that were like none of the known
	fields Fields
	buf    []byte
	list   []string // what is left of the last piece of memory for values
}

// Family is a choice of fields.
type Family uint8

// The families.
const (
	Both     Family = iota // all fields
	Standard               // RateLimit and RateLimit-Policy
	Legacy                 // X-RateLimit-Limit, -Remaining and -Reset
)

// has tells whether a field is of the family.
func (f Family) has(field uint8) bool {
	switch f {
	case Standard:
		return field == policyField || field == limitField
	case Legacy:
		return field == legacyLimitField || field == legacyRemainingField || field == legacyResetField
	}
	return true
}

// recurrent is what answers about the same limits have in common.
type recurrent struct {
	rule, scope string
	limit       weir.Limit
	charges     []chargeOf

	policies, legacyLimit, legacyPolicy, legacyScope []string

	head string // of RateLimit, up to the number that is left

	reset  int64 // of the last answer; many have the same
	resets []string
}

// listPiece is how many values are made room for at once: those of 8 answers.
// A header keeps the piece from being collected, for as long as it lives.
const listPiece = 24

// chargeOf is what the fields say of a charge.
type chargeOf struct {
	rule  string
	limit weir.Limit
	shown bool
}

// Set puts the fields of a into h, which is an http.Header, in place of fields
// of the same names. It allocates once, and for every eighth answer twice, and h may grow.
func (r *Recurring) Set(a *Answer, h map[string][]string) {
	d := a.Decision
	if d.Verdict != weir.Allow || d.Reason == weir.ReasonDegraded || d.Limit.Count == 0 || len(d.Charges) == 0 {
		r.plain(a, h)
		return
	}
	slot := &r.known[r.slot(d)]
	if *slot == nil || !(*slot).fits(a) {
		// One that takes turns with another in its place is not worth learning
		// each time.
		if r.strays++; *slot != nil && r.strays%16 != 0 || !a.binds() {
			r.plain(a, h)
			return
		}
		*slot = learn(a)
	}
	(*slot).set(r, a, h)
}

func (r *Recurring) plain(a *Answer, h map[string][]string) {
	only := r.Only
	if a.Decision.Verdict != weir.Allow {
		only = Both
	}
	r.fields.Fill(a)
	r.fields.set(h, only)
}

// slot spreads answers over the known by what is quick to look at.
func (r *Recurring) slot(d *weir.Decision) int {
	n := len(d.Charges)
	return int(uint32(d.RuleIndex)*3+uint32(n)+uint32(d.Charges[n-1].Limit.Count)) % len(r.known)
}

func (k *recurrent) fits(a *Answer) bool {
	d := a.Decision
	if k.rule != d.Rule || k.scope != a.Scope || k.limit != d.Limit || len(k.charges) != len(d.Charges) {
		return false
	}
	for i := range k.charges {
		c := &d.Charges[i]
		if k.charges[i].limit != c.Limit || k.charges[i].rule != c.Rule || k.charges[i].shown != shown(c) {
			return false
		}
	}
	return true
}

// learn writes what answers like a have in common. A limit binds in a.
func learn(a *Answer) *recurrent {
	d := a.Decision
	k := &recurrent{
		rule: d.Rule, scope: a.Scope, limit: d.Limit,
		policies:     []string{string(a.AppendPolicies(nil))},
		legacyLimit:  []string{strconv.FormatInt(d.Limit.Capacity(), 10)},
		legacyPolicy: []string{string(a.AppendName(nil))},
		reset:        -1,
		head:         string(append(a.appendName([]byte{'"'}, d.Rule, &d.Limit, true), `";r=`...)),
	}
	if a.Scope != "" {
		k.legacyScope = []string{string(appendText(nil, a.Scope, false))}
	}
	for i := range d.Charges {
		c := &d.Charges[i]
		k.charges = append(k.charges, chargeOf{c.Rule, c.Limit, shown(c)})
	}
	return k
}

// set writes what is a's own: what is left, and until when.
func (k *recurrent) set(r *Recurring, a *Answer, h map[string][]string) {
	b, start := r.buf[:0], 0
	if r.Only != Legacy {
		b, start = append(b, k.head...), len(k.head)
	}
	b = appendInteger(b, a.Decision.Remaining)
	left := len(b)
	if r.Only != Legacy && k.limit.Algorithm != weir.Concurrency {
		b = appendInteger(append(b, ";t="...), a.effective())
	}
	limit := len(b)
	reset := a.resetAt()
	if reset != k.reset {
		b = strconv.AppendInt(b, reset, 10)
	}
	r.buf = b
	if len(r.list) < 3 {
		r.list = make([]string, listPiece)
	}
	list := r.list[:3]
	r.list = r.list[3:]
	all := string(b)
	list[0], list[1], list[2] = all[:limit], all[start:left], all[limit:]
	if reset != k.reset {
		k.reset, k.resets = reset, list[2:3:3]
	}
	if r.Only != Legacy {
		h[fieldNames[policyField].key] = k.policies
		h[fieldNames[limitField].key] = list[0:1:1]
	}
	if r.Only != Standard {
		h[fieldNames[legacyLimitField].key] = k.legacyLimit
		h[fieldNames[legacyRemainingField].key] = list[1:2:2]
		h[fieldNames[legacyResetField].key] = k.resets
	}
	if r.Only == Both {
		h[fieldNames[legacyPolicyField].key] = k.legacyPolicy
		if k.legacyScope != nil {
			h[fieldNames[legacyScopeField].key] = k.legacyScope
		}
	}
}
