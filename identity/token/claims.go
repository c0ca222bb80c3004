package token

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
)

// Bounds on claims.
const (
	maxValue = 256 // bytes of a claim that becomes a dimension
	maxExtra = 8   // claims that do, besides the named ones
)

// Claims say which claims become which dimensions. A claim is a text or a whole
// number, of at most 256 bytes: a token in which one is anything else is not
// believed at all, since to leave it out could be to leave out a limit.
type Claims struct {
	Tenant string            // a token without it is not believed; empty for none
	User   string            // by default sub; a token may lack it
	Plan   string            // a token may lack it; empty for none
	Extra  map[string]string // claim to dimension; a token may lack them
}

// reserved are dimensions that are found in other ways.
var reserved = []string{
	identity.DimTenant, identity.DimUser, identity.DimPlan, identity.DimAPIKey, identity.DimIP,
	"method", "path", "route", "host",
}

func (c *Claims) check() error {
	if len(c.Extra) > maxExtra {
		return invalid("jwt.claims", "", "%d claims are more than %d", len(c.Extra), maxExtra)
	}
	var taken []string
	for _, claim := range slices.Sorted(maps.Keys(c.Extra)) {
		dim := c.Extra[claim]
		switch {
		case claim == "" || dim == "" || len(dim) > maxValue:
			return invalid("jwt.claims", "", "a name is empty or too long")
		case slices.Contains(reserved, dim):
			return invalid("jwt.claims", "tenant_claim, user_claim and plan_claim set those; choose another name for others",
				"the dimension %q is found in another way", dim)
		case slices.Contains(taken, dim):
			return invalid("jwt.claims", "", "two claims become %q", dim)
		}
		taken = append(taken, dim)
	}
	return nil
}

// subject takes from verified claims what was asked for.
func (c *Claims) subject(claims map[string]any) (*identity.Subject, bool) {
	s, ok := new(identity.Subject), true
	for _, f := range []struct {
		claim string
		into  *string
		must  bool
	}{{c.Tenant, &s.Tenant, true}, {c.User, &s.User, false}, {c.Plan, &s.Plan, false}} {
		if f.claim == "" {
			continue
		}
		if *f.into, ok = textOf(claims, f.claim); !ok || f.must && *f.into == "" {
			return nil, false
		}
	}
	for _, claim := range slices.Sorted(maps.Keys(c.Extra)) {
		value, ok := textOf(claims, claim)
		if !ok {
			return nil, false
		}
		if value != "" {
			s.Extra = append(s.Extra, weir.Pair{Name: c.Extra[claim], Value: value})
		}
	}
	return s, true
}

// textOf returns a claim, empty when there is none.
func textOf(claims map[string]any, name string) (string, bool) {
	v, has := claims[name]
	if !has || v == nil {
		return "", true
	}
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		if text = v.String(); strings.ContainsAny(text, ".eE") {
			return "", false // one number has several such spellings
		}
	default:
		return "", false
	}
	return text, len(text) <= maxValue
}
