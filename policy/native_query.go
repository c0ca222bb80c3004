package policy

import (
	"github.com/weirlimit/weir"
)

// maxDimensions bounds the dimensions of a request: looking one up is a walk
// over them.
const maxDimensions = 64

// query is a request's dimensions, with what is derived from them.
type query struct {
	pairs []weir.Pair
	// plan is the request's own, or that of its tenant in the tenants table.
	plan string
	// What route patterns are tried on. Empty: the request has none.
	method, path           string
	routeMethod, routePath string

	priorities []RoutePriority // of the domain
	ranked     string          // the priority, once it was asked for
}

// distinct refuses dimensions that are too many, or there twice.
func distinct(pairs []weir.Pair) error {
	if len(pairs) > maxDimensions {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "dimensions",
			Message: "a request has at most 64 dimensions",
		}
	}
	for i := 1; i < len(pairs); i++ {
		for j := range i {
			if sameName(pairs[i].Name, pairs[j].Name) {
				return &weir.Error{
					Code: weir.CodeInvalid, Field: "dimensions",
					Message: "dimension " + pairs[i].Name + " is there twice",
					Hint:    "say which one the caller is limited by",
				}
			}
		}
	}
	return nil
}

// ask reads a descriptor's dimensions into q, which is empty.
func (d *nativeDomain) ask(pairs []weir.Pair, q *query) {
	q.pairs, q.priorities = pairs, d.priorities
	tenant, route := "", ""
	for i := range pairs {
		switch value := pairs[i].Value; pairs[i].Name {
		case dimPlan:
			q.plan = value
		case dimTenant:
			tenant = value
		case dimMethod:
			q.method = value
		case dimPath:
			q.path = withoutQuery(value)
		case dimRoute:
			route = value
		}
	}
	if q.plan == "" && len(d.tenants) > 0 {
		q.plan = d.tenants[tenant]
	}
	if route != "" {
		q.routeMethod, q.routePath = splitRoute(withoutQuery(route))
	}
	if q.routeMethod == "" {
		q.routeMethod = q.method
	}
}

// sameName is a == b, most often told by a look at one byte.
func sameName(a, b string) bool {
	return len(a) == len(b) && (a == "" || a[0] == b[0] && a == b)
}

// get returns the value of a dimension as sent; empty when there is none. An
// empty value is as good as none: it tells nobody apart.
func (q *query) get(name string) string { return valueOf(q.pairs, name) }

func valueOf(pairs []weir.Pair, name string) string {
	for i := range pairs {
		if sameName(pairs[i].Name, name) {
			return pairs[i].Value
		}
	}
	return ""
}

// value is get with the plan and the priority as derived.
func (q *query) value(name string) string {
	switch name {
	case dimPlan:
		return q.plan
	case dimPriority:
		return q.priority()
	}
	return q.get(name)
}
