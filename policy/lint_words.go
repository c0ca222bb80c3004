package policy

import "slices"

// usualDimensions are those that gateways send; a name that is nearly one of
// them is most likely a misspelt one, and its policy would apply to nobody.
var usualDimensions = []string{"tenant", "user", "ip", "route", "api_key", "region", "method", "path", "plan", "priority"}

// usualMethods are HTTP's. Others exist, and are rare.
var usualMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}

// words looks at names.
func (l *linter) words(p *NativePolicy) {
	for _, c := range p.Match {
		l.dimension(c.At, c.Dimension)
	}
	for _, name := range p.By {
		l.dimension(p.At, name)
		if name == dimPath {
			l.warn(p.At, "unbounded-key", "count by route: a request without one has the pattern that it matched",
				"policy %s counts by path: whoever makes up paths makes up counters", p.ID)
		}
	}
	for i := range p.Routes {
		l.methods(p.At, &p.Routes[i])
	}
	for i := range p.Cost {
		l.methods(p.Cost[i].At, &p.Cost[i].Route)
	}
}

// dimension compares a name of four letters or more: short ones are near too
// many.
func (l *linter) dimension(at Position, name string) {
	if slices.Contains(usualDimensions, name) || len(name) < 4 {
		return
	}
	for _, usual := range usualDimensions {
		if distance(name, usual, 1) <= 1 {
			l.warn(at, "likely-typo", "did you mean "+usual+"?", "dimension %s is nearly %s", quoted(name), usual)
			return
		}
	}
}

func (l *linter) methods(at Position, rt *Route) {
	for _, m := range rt.Methods {
		if slices.Contains(usualMethods, m) {
			continue
		}
		if best := nearest(m, usualMethods); best != "" {
			l.warn(at, "likely-typo", "did you mean "+best+"?", "%s is not a method of HTTP", m)
		}
	}
}
