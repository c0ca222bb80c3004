package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// envoyBuilder makes the tree of one domain.
type envoyBuilder struct {
	*envoyCompiler
	domain *envoyDomain
	nodes  []*envoyNode     // those with a rule, in the order written
	names  map[string]int32 // of limits
	words  map[string]*string
}

// word is one text for all of the same: requests compare it, and so it is in the
// cache.
func (b *envoyBuilder) word(text string) *string {
	if b.words[text] == nil {
		b.words[text] = &text
	}
	return b.words[text]
}

// add puts d and what is below it into a level. path is where the level stands,
// the domain first.
func (b *envoyBuilder) add(level envoyLevel, up *envoyNode, d *EnvoyDescriptor, path string) {
	word := b.word(d.Key)
	key := *word
	s := level[key]
	if s == nil {
		s = &envoySiblings{}
		level[key] = s
	}
	n := &envoyNode{up: up, key: key, word: word, value: d.Value, at: d.At, shares: d.ShareThreshold, valueToMetric: d.ValueToMetric}
	s.add(n)
	n.free, n.hides = freeOf(n, up), b.hidesOf(n, up)
	n.counts = n.counting()
	path += "." + d.composite()
	if d.limited() {
		b.addRule(n, d, path)
	}
	if len(d.Descriptors) == 0 {
		return
	}
	n.below = make(envoyLevel, 1)
	for i := range d.Descriptors {
		b.add(n.below, n, &d.Descriptors[i], path)
	}
}

func (s *envoySiblings) add(n *envoyNode) {
	if n.value == "" {
		s.bare = n
		return
	}
	if s.exact == nil {
		s.exact = map[string]*envoyNode{}
	}
	s.exact[n.value] = n
	if p := newPattern(n.value); !p.literal() {
		s.wild.add(p, n)
	}
}

// freeOf extends the free entries of up by that of n, if it is one. Siblings
// share the list of up.
func freeOf(n, up *envoyNode) []int32 {
	var free []int32
	depth := 0
	if up != nil {
		free, depth = up.free, up.depth()
	}
	if n.isFree() {
		return append(slices.Clip(free), int32(depth))
	}
	return free
}

// hidesOf tells which of the free entries of n are private.
func (b *envoyBuilder) hidesOf(n, up *envoyNode) []bool {
	var hides []bool
	if up != nil {
		hides = up.hides
	}
	if n.isFree() {
		return append(slices.Clip(hides), slices.Contains(b.private, n.key))
	}
	return hides
}

func (b *envoyBuilder) addRule(n *envoyNode, d *EnvoyDescriptor, path string) {
	r := b.rule(b.domain.name, d)
	n.metric = path
	r.ID = escapeID(path[len(b.domain.name)+1:])
	n.rule, n.name = r, b.number(r.Name)
	for _, name := range r.Replaces {
		n.replaced, n.replaces = append(n.replaced, b.number(name)), true
	}
	r.Scope, r.private = scopeOf(n), slices.Contains(n.hides, true)
	for at := n; at != nil; at = at.up {
		r.ValueToMetric = r.ValueToMetric || at.valueToMetric
	}
	b.nodes = append(b.nodes, n)
	b.domain.rules = append(b.domain.rules, r)
}

// scopeOf names the entries whose values counters differ by.
func scopeOf(n *envoyNode) string {
	var keys []string
	for at := n; at != nil; at = at.up {
		if at.isFree() {
			keys = append(keys, at.key)
		}
	}
	slices.Reverse(keys)
	return strings.Join(keys, ",")
}

// number gives every name a number, so that names are compared as such.
func (b *envoyBuilder) number(name string) int32 {
	if name == "" {
		return 0
	}
	if b.names[name] == 0 {
		b.names[name] = int32(len(b.names) + 1)
	}
	return b.names[name]
}

// finish prepares the wildcards of a level and those below, and tells of nodes
// that no request can reach.
func (b *envoyBuilder) finish(level envoyLevel) {
	for _, key := range slices.Sorted(maps.Keys(level)) {
		s := level[key]
		s.wild.index()
		b.checkReach(s)
		for _, n := range s.exact {
			b.finish(n.below)
		}
		if s.bare != nil {
			b.finish(s.bare.below)
		}
	}
}

// compile makes the steps of a level, those below it first.
func (b *envoyBuilder) compile(level envoyLevel) step {
	for _, s := range level {
		for _, n := range s.exact {
			n.next = b.compile(n.below)
		}
		if s.bare != nil {
			s.bare.next = b.compile(s.bare.below)
		}
	}
	return newStep(level, &b.room)
}

// tellApart makes ids unique. Siblings have different names, so that two paths
// are written alike only when a key or a value has a dot of its own. Those few
// have theirs written %2E.
func (b *envoyBuilder) tellApart() {
	count := make(map[string]int, len(b.nodes))
	for _, n := range b.nodes {
		count[n.rule.ID]++
	}
	for _, n := range b.nodes {
		if count[n.rule.ID] > 1 {
			n.rule.ID = dotless(n)
		}
		if n.rule.Name == "" {
			n.rule.Name = n.rule.ID
		}
		if len(n.free) < 2 {
			n.rule.prepare(n.rule.Windows)
		}
	}
}

func dotless(n *envoyNode) string {
	text := strings.ReplaceAll(escapeID(n.composite()), ".", "%2E")
	if n.up == nil {
		return text
	}
	return dotless(n.up) + "." + text
}

// checkReplaces warns of names that no limit of the domain has.
func (b *envoyBuilder) checkReplaces() {
	given := make(map[int32]bool, len(b.names))
	for _, n := range b.nodes {
		given[n.name] = true
	}
	for _, n := range b.nodes {
		for i, name := range n.replaced {
			if !given[name] {
				b.warn(n.rule.At, "replaces-nothing", fmt.Sprintf("no limit of the domain has the name '%s'", shorten(n.rule.Replaces[i])),
					"replaces takes the name: of another rate_limit")
			}
		}
	}
}

// checkReach warns of siblings that an earlier wildcard leaves nothing to.
func (b *envoyBuilder) checkReach(s *envoySiblings) {
	everything := -1
	for i := range s.wild.all {
		e := &s.wild.all[i]
		// Read as a value, a pattern is matched by those that match all it does.
		if first := s.wild.position(e.node.value); first < i {
			b.unreachable(e.node, s.wild.all[first].node)
		}
		if everything < 0 && strings.Trim(e.node.value, wildcard) == "" {
			everything = i
		}
	}
	if everything >= 0 && s.bare != nil {
		b.unreachable(s.bare, s.wild.all[everything].node)
	}
}

func (b *envoyBuilder) unreachable(n, by *envoyNode) {
	b.warn(n.at, "unreachable", fmt.Sprintf("descriptor '%s' is never reached: '%s' takes all that it matches", shorten(n.composite()), shorten(by.composite())),
		"wildcards are tried in the order written, and before a key without a value; put the narrower first")
}

// addOverride makes the one rule for all limits that requests bring along: a
// rule for each would be a leak.
func (b *envoyBuilder) addOverride() {
	r := &Rule{ID: overrideID, Name: overrideID, Domain: b.domain.name}
	if b.compat {
		r.Mode, r.CountsAll = weir.Always, true
	}
	b.domain.override = &envoyNode{rule: r, metric: b.domain.name + "." + overrideID}
	b.domain.rules = append(b.domain.rules, r)
}
