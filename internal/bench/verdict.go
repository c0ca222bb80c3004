package bench

import (
	"bytes"

	"github.com/weirlimit/weir/internal/pbwire"
)

// What an answer says.
const (
	none    uint8 = iota
	unruled       // allowed because no limit applies: of limits it says nothing
	allowed
	denied
)

// judge is how the messages of a unary API are read.
func (a API) judge() func(message []byte) uint8 {
	if a == RLS {
		return judgeRLS
	}
	return judgeNative
}

// verdictOf reads field 1. Both protocols number their codes alike: OK is 1, over
// the limit 2, and with anything else nothing was decided.
func verdictOf(code uint64) uint8 {
	switch code {
	case 1:
		return allowed
	case 2:
		return denied
	}
	return none
}

// judgeRLS reads a RateLimitResponse: the code, which servers write first, and of
// one that allows the statuses of the descriptors. All are to have a limit.
func judgeRLS(message []byte) uint8 {
	verdict, limited := none, true
	for r := pbwire.Read(pbwire.View(message)); r.Next(); {
		switch r.Tag {
		case 1<<3 | pbwire.Varint:
			if verdict = verdictOf(r.Varint()); verdict != allowed {
				return verdict
			}
		case 2<<3 | pbwire.Bytes:
			limited = hasLimit(r.Text()) && limited
		default:
			r.Skip()
		}
	}
	if verdict == allowed && !limited {
		return unruled
	}
	return verdict
}

// hasLimit reads a DescriptorStatus. An unlimited rule has no current_limit (2),
// but a limit_remaining (3), the largest there is. A limit may have nothing left.
func hasLimit(status string) bool {
	if len(status) > 2 && status[0] == 1<<3|byte(pbwire.Varint) && status[2] == 2<<3|byte(pbwire.Bytes) {
		return true // a code, then a limit: nearly always
	}
	for r := pbwire.Read(status); r.Next(); r.Skip() {
		if r.Tag == 2<<3|pbwire.Bytes || r.Tag == 3<<3|pbwire.Varint {
			return true
		}
	}
	return false
}

// noRule is REASON_NO_RULE.
const noRule = 3

// judgeNative reads a CheckResponse: the code, and the reason, which is field 9.
func judgeNative(message []byte) uint8 {
	verdict := none
	for r := pbwire.Read(pbwire.View(message)); r.Next(); {
		switch r.Tag {
		case 1<<3 | pbwire.Varint:
			if verdict = verdictOf(r.Varint()); verdict != allowed {
				return verdict
			}
		case 9<<3 | pbwire.Varint:
			if r.Varint() == noRule {
				return unruled
			}
		default:
			r.Skip()
		}
	}
	return verdict
}

// judgeHTTP reads the body of a 200. A value that says the same would have its
// quotes escaped.
func judgeHTTP(body []byte) uint8 {
	if bytes.Contains(body, []byte(`"reason":"no_rule"`)) {
		return unruled
	}
	return allowed
}
