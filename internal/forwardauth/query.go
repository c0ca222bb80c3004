package forwardauth

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/weirlimit/weir"
)

const (
	maxValue      = 256 // bytes of a domain, a policy
	defaultDomain = "default"
)

// query is what the operator wrote behind the question mark.
type query struct {
	domain, policy string
	cost           int64
	hasCost        bool
	deny           int // the status of a denial; 0 for its own
}

// parseQuery reads it strictly: a misspelt parameter would be a limit that
// silently does not apply.
func parseQuery(raw string) (query, error) {
	q := query{domain: defaultDomain}
	if raw == "" {
		return q, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, invalid("query", "for example ?domain=api&deny=403, with other bytes escaped as %20", "is malformed")
	}
	for name, v := range values {
		if len(v) != 1 {
			return q, invalid(name, "keep one of them", "stands twice in the query")
		}
		if err := q.set(name, v[0]); err != nil {
			return q, err
		}
	}
	return q, nil
}

func (q *query) set(name, value string) error {
	switch name {
	case "domain", "policy":
		if value == "" || len(value) > maxValue {
			return invalid(name, "leave it out for the default", "has 1 to %d bytes", maxValue)
		}
		if name == "domain" {
			q.domain = value
		} else {
			q.policy = value
		}
	case "cost":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return invalid(name, "for example cost=2; 0 only looks", "is not a number from 0")
		}
		q.cost, q.hasCost = n, true
	case "deny":
		switch value {
		case "401", "403", "429", "503":
			q.deny, _ = strconv.Atoi(value)
		default:
			return invalid(name, "use 401, 403, 429 or 503; nginx wants 403", "is no status for a denial")
		}
	default:
		if len(name) > maxValue {
			name = name[:maxValue]
		}
		return invalid("query", "domain, policy, cost and deny are known", "has no parameter %q", name)
	}
	return nil
}

func invalid(field, hint, format string, args ...any) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}
