package doctor

import (
	"strings"

	"github.com/weirlimit/weir"
)

// access judges whether the user may do what Weir does, on this very server:
// ACLs are not replicated, and a replica without the user ends every decision
// when it is promoted.
func (j *judge) access() {
	var missing []string
	keys := false
	accepted := false
	var refused *weir.Error
	for _, t := range j.node.Tried {
		switch {
		case t.Err == nil:
			accepted = accepted || t.Command == "set"
		case t.Err.Code == weir.CodeNoPerm && aboutKeys(t.Err):
			keys = true
		case t.Err.Code == weir.CodeNoPerm:
			missing = append(missing, t.Command)
		case t.Err.Code == weir.CodeMoved || t.Err.Code == weir.CodeTryAgain: // asked the wrong node
		case t.Command == "set":
			refused = t.Err
		}
	}
	j.writes(refused, accepted)
	var rules, seen []string
	for _, c := range missing {
		rules = append(rules, "+"+c)
	}
	if len(missing) > 0 {
		seen = append(seen, "may not run "+strings.Join(missing, ", "))
	}
	if keys {
		rules = append(rules, "~"+j.facts.Prefix+"*")
		seen = append(seen, `may not use keys that begin with "`+j.facts.Prefix+`"`)
	}
	do := "ACL SETUSER " + userName(j.facts.User) + " " + strings.Join(rules, " ") + ", then ACL SAVE or CONFIG REWRITE"
	if keys {
		do += "; or give the prefix that it may use with --redis-prefix"
	}
	switch {
	case len(rules) == 0 && len(j.node.Tried) == 0:
	case len(rules) == 0:
		j.add(CheckACL, OK, "may run all that Weir needs", "")
	case len(rules) == 1 && rules[0] == "+ping":
		j.add(CheckACL, Warn, "may not run ping: an entry in ACL LOG every second", do)
	default:
		j.add(CheckACL, Fail, strings.Join(seen, "; "), do)
	}
}

// aboutKeys tells whether a user lacks a key pattern rather than a command.
func aboutKeys(err *weir.Error) bool { return strings.Contains(err.Error(), "to access") }

// writes judges a write to a primary, which the caller tried in a way that
// changes nothing.
func (j *judge) writes(refused *weir.Error, accepted bool) {
	switch {
	case j.node.Role != "master":
	case refused != nil:
		bare := *refused
		bare.Hint = ""
		j.add(CheckWrites, Fail, "writes are refused: "+bare.Error(), refused.Hint)
	case accepted:
		j.add(CheckWrites, OK, "accepted", "")
	}
}
