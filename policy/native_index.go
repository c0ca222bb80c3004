package policy

import (
	"slices"
	"strings"
)

// matchIndex finds the policies that may match a request without looking at
// all of them. Each policy is filed under one of its conditions; what is filed
// under a condition that the request meets is then checked whole. Policies
// with no condition to file them under are in general.
type matchIndex struct {
	dims    map[string]*dimIndex
	routes  *dimIndex // by path; nil when nothing is filed there
	filed   int       // how often a policy was filed
	general []int32
}

// dimIndex files policies under values of one dimension. Literals are found by
// a lookup, patterns by a lookup of each length their prefixes have: few
// lengths, however many patterns.
type dimIndex struct {
	exact   map[string][]int32
	prefix  map[string][]int32
	lengths []int // of the prefixes, ascending
}

// filing is one condition as the index sees it.
type filing struct {
	dim      string // "" for the route
	isRoute  bool
	patterns []pattern
}

// filings are the conditions that a policy can be filed under: those of which
// every pattern starts with a literal.
func (p *nativePolicy) filings() []filing {
	var out []filing
	for i := range p.where {
		c := &p.where[i]
		f := filing{dim: c.name, patterns: slices.Clone(c.wild)}
		for _, text := range c.literals {
			f.patterns = append(f.patterns, newPattern(text))
		}
		out = append(out, f)
	}
	if len(p.routes) > 0 {
		f := filing{isRoute: true}
		for i := range p.routes {
			f.patterns = append(f.patterns, p.routes[i].path)
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f filing) bool {
		return slices.ContainsFunc(f.patterns, func(p pattern) bool { return p.prefix() == "" })
	})
}

// drawer is where a pattern is filed.
type drawer struct {
	dim     string
	isRoute bool
	literal bool
	prefix  string
}

func (f *filing) drawers(visit func(drawer)) {
	for _, p := range f.patterns {
		visit(drawer{f.dim, f.isRoute, p.literal(), p.prefix()})
	}
}

// newMatchIndex files each policy under the condition that it shares with
// fewest others.
func newMatchIndex(policies []nativePolicy) matchIndex {
	crowd := map[drawer]int{}
	for i := range policies {
		for _, f := range policies[i].filings() {
			f.drawers(func(d drawer) { crowd[d]++ })
		}
	}
	x := matchIndex{dims: map[string]*dimIndex{}}
	for i := range policies {
		best, least := -1, 0
		all := policies[i].filings()
		for j := range all {
			worst := 0
			all[j].drawers(func(d drawer) { worst = max(worst, crowd[d]) })
			if best < 0 || worst < least {
				best, least = j, worst
			}
		}
		if best < 0 {
			x.general = append(x.general, int32(i))
			continue
		}
		all[best].drawers(func(d drawer) { x.file(d, int32(i)) })
	}
	x.sortLengths()
	return x
}

func (x *matchIndex) file(d drawer, policy int32) {
	x.filed++
	dim := x.routes
	if !d.isRoute {
		dim = x.dims[d.dim]
	}
	if dim == nil {
		dim = &dimIndex{exact: map[string][]int32{}, prefix: map[string][]int32{}}
		if d.isRoute {
			x.routes = dim
		} else {
			x.dims[d.dim] = dim
		}
	}
	m := dim.prefix
	if d.literal {
		m = dim.exact
	} else if !slices.Contains(dim.lengths, len(d.prefix)) {
		dim.lengths = append(dim.lengths, len(d.prefix))
	}
	// Own the text: a slice of a request or a file would keep all of it alive.
	prefix := strings.Clone(d.prefix)
	m[prefix] = append(m[prefix], policy)
}

func (x *matchIndex) sortLengths() {
	for _, dim := range x.dims {
		slices.Sort(dim.lengths)
	}
	if x.routes != nil {
		slices.Sort(x.routes.lengths)
	}
}

// find appends the policies filed under what q says, in their order and each
// once.
func (x *matchIndex) find(q *query, into []int32) []int32 {
	if len(x.dims) > 0 {
		for i := range q.pairs {
			if dim := x.dims[q.pairs[i].Name]; dim != nil && !derived(q.pairs[i].Name) {
				into = dim.find(q.pairs[i].Value, into)
			}
		}
		if dim := x.dims[dimPlan]; dim != nil {
			into = dim.find(q.plan, into)
		}
		if dim := x.dims[dimPriority]; dim != nil {
			into = dim.find(q.priority(), into)
		}
	}
	if x.routes != nil {
		into = x.routes.find(q.path, into)
		if q.routePath != q.path {
			into = x.routes.find(q.routePath, into)
		}
	}
	if len(into) > 1 {
		slices.Sort(into)
		into = slices.Compact(into)
	}
	return into
}

func (d *dimIndex) find(value string, into []int32) []int32 {
	if value == "" {
		return into
	}
	into = append(into, d.exact[value]...)
	for _, n := range d.lengths {
		if n > len(value) {
			break
		}
		into = append(into, d.prefix[value[:n]]...)
	}
	return into
}
