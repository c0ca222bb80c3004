package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

// readMatch reads the conditions of a policy.
func readMatch(r *nativeReader, n *yaml.Node, d *policyDraft) {
	some := false
	ok := r.entries(n, "match", func(name string, k, v *yaml.Node) {
		some = true
		if !r.dimensionName(k, "match", name) {
			return
		}
		if name == dimRoute {
			d.Routes = r.routes(v)
			return
		}
		c := Condition{Dimension: name, At: r.at(k)}
		r.items(v, "match "+name, maxPatterns, func(v *yaml.Node) {
			if text, ok := r.bounded(v, "match "+name, maxTextBytes); ok && (name != dimPriority || r.priority(v, text)) {
				c.Patterns = append(c.Patterns, text)
			}
		})
		d.Match = append(d.Match, c)
	})
	if ok && !some {
		r.problem(n, "empty", "leave the key out to match every request", "match is empty")
	}
}

// routes reads a route pattern or a list of them, as text or as mappings.
func (r *nativeReader) routes(n *yaml.Node) []Route {
	var out []Route
	r.items(n, "match route", maxPatterns, func(v *yaml.Node) {
		v = r.enter(v)
		if v.Kind != yaml.MappingNode {
			if text, ok := r.bounded(v, "match route", maxTextBytes); ok {
				if rt, ok := r.route(v, text); ok {
					out = append(out, rt)
				}
			}
			return
		}
		var m routeMapping
		if !readFields(r, v, "a route", routeFields, &m) {
			return
		}
		for _, path := range m.paths {
			out = append(out, newRoute(slices.Clone(m.methods), path))
		}
	})
	return out
}

// routeMapping is a route written as {method, path}.
type routeMapping struct{ methods, paths []string }

// routeFields are its keys.
var routeFields = []nativeField[routeMapping]{
	{
		key: "method", doc: "A method or a list of them. Default: any.",
		shape: func() shape { return oneOrMore(shape{"type": "string", "pattern": `^([A-Za-z]+|\*)$`}) },
		read: func(r *nativeReader, n *yaml.Node, m *routeMapping) {
			r.items(n, "method", maxMethods, func(v *yaml.Node) {
				if text, ok := r.bounded(v, "method", maxTextBytes); ok {
					m.methods = append(m.methods, r.methods(v, text)...)
				}
			})
		},
	},
	{
		key: "path", doc: "A path or a list of them; * stands for any characters, slashes too.", must: true,
		shape: func() shape { return oneOrMore(shape{"type": "string", "minLength": 1, "maxLength": maxTextBytes}) },
		read: func(r *nativeReader, n *yaml.Node, m *routeMapping) {
			r.items(n, "path", maxPatterns, func(v *yaml.Node) {
				if text, ok := r.bounded(v, "path", maxTextBytes); ok && r.path(v, text) {
					m.paths = append(m.paths, text)
				}
			})
		},
	},
}

// maxMethods is more than HTTP has.
const maxMethods = 32

// route reads POST /v1/orders/*, GET|HEAD /v1/*, /v1/* or a route's name.
func (r *nativeReader) route(n *yaml.Node, text string) (Route, bool) {
	method, path := splitRoute(strings.TrimSpace(text))
	if !r.path(n, path) {
		return Route{}, false
	}
	if method == "" {
		return newRoute(nil, path), true
	}
	before := len(r.problems)
	methods := r.methods(n, method)
	return newRoute(methods, path), len(r.problems) == before
}

// methods reads GET or GET|HEAD, in upper case; * is any method, and so none.
func (r *nativeReader) methods(n *yaml.Node, text string) []string {
	if text == wildcard {
		return nil
	}
	methods := strings.Split(strings.ToUpper(text), "|")
	for _, m := range methods {
		if m == "" || strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			r.problem(n, "bad-route", "for example POST /v1/orders/* or GET|HEAD /v1/*", "%s is not a method", quoted(text))
			return nil
		}
	}
	return methods
}

func (r *nativeReader) path(n *yaml.Node, path string) bool {
	switch {
	case path == "" || strings.ContainsAny(path, " \t"):
		r.problem(n, "bad-route", "for example POST /v1/orders/*", "%s is not a path or a route's name", quoted(path))
		return false
	case strings.Contains(path, "?"):
		r.problem(n, "bad-route", "leave the query out", "a route is matched without its query, and %s has one", quoted(path))
		return false
	}
	return true
}

// readCost reads a number, or numbers by route.
func readCost(r *nativeReader, n *yaml.Node, d *policyDraft) {
	if v := r.enter(n); v.Kind != yaml.MappingNode {
		if cost, ok := r.number(v, "cost", 0, weir.MaxCount); ok {
			d.Cost = []RouteCost{{Any: true, Cost: cost, At: r.at(v)}}
		}
		return
	}
	routes := 0
	r.entries(n, "cost", func(text string, k, v *yaml.Node) {
		routes++
		cost, ok := r.number(v, "the cost of "+quoted(text), 0, weir.MaxCount)
		if !ok {
			return
		}
		c := RouteCost{Any: text == wildcard, Cost: cost, At: r.at(k)}
		if !c.Any {
			if c.Route, ok = r.route(k, text); !ok {
				return
			}
		}
		d.Cost = append(d.Cost, c)
	})
	switch {
	case routes > maxCosts:
		r.problem(n, "too-large", "use patterns", "cost has %d routes, more than %d", routes, maxCosts)
	case routes == 0:
		r.problem(n, "empty", "leave the key out for a cost of 1", "cost is empty")
	}
}
