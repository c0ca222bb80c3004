package policy

// condition is what one dimension must be.
type condition struct {
	name     string
	literals []string
	set      map[string]struct{} // the literals, when they are many
	wild     []pattern
	text     []string // all of them, as written
}

// manyLiterals is where a map lookup becomes cheaper than comparing.
const manyLiterals = 8

func newCondition(c Condition) condition {
	out := condition{name: c.Dimension, text: c.Patterns}
	for _, text := range c.Patterns {
		if p := newPattern(text); p.literal() {
			out.literals = append(out.literals, text)
		} else {
			out.wild = append(out.wild, p)
		}
	}
	if len(out.literals) > manyLiterals {
		out.set = make(map[string]struct{}, len(out.literals))
		for _, text := range out.literals {
			out.set[text] = struct{}{}
		}
	}
	return out
}

func (c *condition) match(value string) bool {
	if value == "" {
		return false
	}
	if c.set != nil {
		if _, ok := c.set[value]; ok {
			return true
		}
	} else {
		for _, text := range c.literals {
			if text == value {
				return true
			}
		}
	}
	for i := range c.wild {
		if c.wild[i].match(value) {
			return true
		}
	}
	return false
}

// matches tells whether all conditions hold. route is the route pattern that
// did, or nil when any route will do.
func (p *nativePolicy) matches(q *query) (route *Route, ok bool) {
	for i := range p.where {
		if !p.where[i].match(q.value(p.where[i].name)) {
			return nil, false
		}
	}
	if len(p.routes) == 0 {
		return nil, true
	}
	for i := range p.routes {
		if p.routes[i].match(q) {
			return &p.routes[i], true
		}
	}
	return nil, false
}

// unitCost is what a unit of the request costs under this policy.
func (p *nativePolicy) unitCost(q *query) int64 {
	for i := range p.cost {
		if c := &p.cost[i]; c.Any || c.Route.match(q) {
			return c.Cost
		}
	}
	return 1
}

// keyValue is what a dimension of by contributes to the key. A request without
// a route of its own has the pattern that matched: the path itself would give
// every path its own counter, and a caller as many counters as paths it makes up.
func keyValue(q *query, name string, route *Route) string {
	v := q.value(name)
	if v == "" && name == dimRoute && route != nil {
		return route.text
	}
	return v
}
