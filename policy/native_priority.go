package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

// maxPriorities bounds the routes of priorities: they are tried one by one.
const maxPriorities = 256

// RoutePriority is one route of the priorities table.
type RoutePriority struct {
	Route    Route
	Priority weir.Priority
	At       Position
}

// derived tells whether a dimension has a value that need not be the one sent.
func derived(name string) bool { return name == dimPlan || name == dimPriority }

// priority is the request's own, if it is one of the four, else that of its
// route, else what its method says: who sends none, or makes one up, is not
// outside of a policy that leaves room for what is critical.
func (q *query) priority() string {
	if q.ranked == "" {
		q.ranked = q.rank().String()
	}
	return q.ranked
}

func (q *query) rank() weir.Priority {
	if p, ok := weir.ParsePriority(q.get(dimPriority)); ok {
		return p
	}
	for i := range q.priorities {
		if q.priorities[i].Route.match(q) {
			return q.priorities[i].Priority
		}
	}
	if q.method == "" {
		return weir.MethodPriority(q.routeMethod)
	}
	return weir.MethodPriority(q.method)
}

var priorityWords = []string{"test", "read", "write", "critical"}

var prioritiesField = nativeField[NativeFile]{
	key: "priorities", doc: "Which priority routes have, for requests that do not say: {critical: [POST /v1/charges], test: /sandbox/*}. " +
		"The first that matches counts; none: read or write, by the method.",
	shape: func() shape {
		return shape{
			"type": "object", "minProperties": 1,
			"propertyNames": enumShape(priorityWords), "additionalProperties": routesShape(),
		}
	},
	read: readPriorities,
}

func readPriorities(r *nativeReader, n *yaml.Node, f *NativeFile) {
	some := false
	ok := r.entries(n, "priorities", func(word string, k, v *yaml.Node) {
		some = true
		i := slices.Index(priorityWords, word)
		if i < 0 {
			r.notPriority(k, word)
			return
		}
		for _, rt := range r.routes(v) {
			f.Priorities = append(f.Priorities, RoutePriority{Route: rt, Priority: weir.PriorityTest + weir.Priority(i), At: r.at(k)})
		}
	})
	switch {
	case ok && !some:
		r.problem(n, "empty", "leave the key out, or name a route", "priorities is empty")
	case len(f.Priorities) > maxPriorities:
		r.problem(n, "too-large", "use patterns", "priorities has %d routes, more than %d", len(f.Priorities), maxPriorities)
	}
}

// priority tells whether a pattern can match a priority, and reports it if not.
func (r *nativeReader) priority(n *yaml.Node, text string) bool {
	if p := newPattern(text); slices.ContainsFunc(priorityWords, p.match) {
		return true
	}
	r.notPriority(n, text)
	return false
}

func (r *nativeReader) notPriority(n *yaml.Node, text string) {
	hint := "one of " + strings.Join(priorityWords, ", ")
	if best := nearest(text, priorityWords); best != "" {
		hint = "did you mean " + best + "?"
	}
	r.problem(n, "bad-value", hint, "%s is not a priority", quoted(text))
}
