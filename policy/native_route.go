package policy

import (
	"slices"
	"strings"
)

// Route is a route pattern: POST /v1/orders/*, /v1/*, or the router's own name
// of a route, such as checkout.
type Route struct {
	Methods []string // in upper case; empty: any
	Path    string   // '*' stands for any characters, slashes too

	path pattern
	text string // as String writes it, so that a key needs no join
}

func newRoute(methods []string, path string) Route {
	slices.Sort(methods)
	rt := Route{Methods: slices.Compact(methods), Path: path, path: newPattern(path), text: path}
	if len(rt.Methods) > 0 {
		rt.text = strings.Join(rt.Methods, "|") + " " + path
	}
	return rt
}

// String writes the route the way it is read: GET|POST /v1/orders.
func (rt *Route) String() string { return rt.text }

// match tries the pattern on the request's method and path, and on what its
// router calls the route.
func (rt *Route) match(q *query) bool {
	if q.path != "" && rt.allows(q.method) && rt.path.match(q.path) {
		return true
	}
	return q.routePath != "" && rt.allows(q.routeMethod) && rt.path.match(q.routePath)
}

// allows compares methods without regard to case: a limit is not escaped by
// writing pOST.
func (rt *Route) allows(method string) bool {
	if len(rt.Methods) == 0 {
		return true
	}
	for _, m := range rt.Methods {
		if strings.EqualFold(m, method) {
			return true
		}
	}
	return false
}

// covers tells whether rt matches whatever other does; it may say no where the
// answer is yes.
func (rt *Route) covers(other *Route) bool {
	if len(rt.Methods) > 0 {
		if len(other.Methods) == 0 {
			return false
		}
		for _, m := range other.Methods {
			if !slices.Contains(rt.Methods, m) {
				return false
			}
		}
	}
	return rt.path.covers(other.path)
}

// splitRoute takes "POST /v1/orders" apart; the method is empty where there is
// none.
func splitRoute(text string) (method, path string) {
	if m, p, ok := strings.Cut(text, " "); ok {
		return m, strings.TrimLeft(p, " ")
	}
	return "", text
}

// withoutQuery cuts a query off a path: Envoy's :path carries one, and a limit
// on /login must hold for /login?x=1 as well.
func withoutQuery(path string) string {
	if i := strings.IndexByte(path, '?'); i >= 0 {
		return path[:i]
	}
	return path
}
