package policy

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// The words of answer, by their value.
const (
	answerLimited     = iota // the caller sent too much: 429
	answerUnavailable        // the service has no room, whoever sends: 503
)

var answerNames = []string{answerLimited: "limited", answerUnavailable: "unavailable"}

var answerField = nativeField[policyDraft]{
	key: "answer", doc: "What a denial says: limited, that the caller sent too much (429), or unavailable, " +
		"that the service has no room (503).",
	shape: func() shape { return enumShape(answerNames) },
	read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
		if i, ok := r.word(n, "answer", answerNames); ok {
			d.Sheds = i == answerUnavailable
		}
	},
}

// callerDimensions are those that tell callers apart.
var callerDimensions = []string{dimTenant, "user", "ip", "api_key"}

// sheds looks at what answers for the service.
func (l *linter) sheds(p *NativePolicy) {
	if !p.Sheds {
		return
	}
	for _, name := range p.By {
		if slices.Contains(callerDimensions, name) {
			l.warn(p.At, "fairness-as-503", "leave answer out: 429 tells a caller to slow down, 503 that everybody is affected",
				"policy %s counts by %s and answers that the service is unavailable", p.ID, name)
			break
		}
	}
	if p.Fail == FailClosed {
		l.warn(p.At, "shed-closed", "write on_failure: open, or local",
			"policy %s protects the service, and would stop it when the store cannot answer", p.ID)
	}
}
