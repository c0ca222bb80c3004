package policy

import (
	"strings"

	"github.com/weirlimit/weir"
)

// envoyDomain is the compiled tree of a domain. It is immutable.
type envoyDomain struct {
	name     string
	top      envoyLevel
	first    step       // top, compiled
	rules    []*Rule    // in the order written; that of override is last
	override *envoyNode // outside of the tree; stands for limits that requests bring along
	private  []string
}

// envoyLevel is a list of siblings.
type envoyLevel map[string]*envoySiblings // by key

// envoySiblings are the siblings of one key.
type envoySiblings struct {
	exact map[string]*envoyNode // by value as written, those with a '*' too
	wild  wildcards
	bare  *envoyNode // without a value: takes what the others leave
}

// envoyNode is a descriptor of the configuration.
type envoyNode struct {
	// What a request needs on its way is one cache line.
	rule     *Rule // nil: a passage, or a whitelist
	next     step  // below, compiled
	name     int32 // of the limit, numbered from 1 in the domain; 0 for none
	counts   counting
	replaces bool // others, when it matches

	up         *envoyNode // nil at the top
	key, value string     // as written
	word       *string    // key, the same for all nodes with it
	at         Position
	below      envoyLevel
	metric     string

	// free are the positions, on the way from the top to here, of entries whose
	// value the rule's id does not tell: counters differ by them.
	free          []int32
	hides         []bool  // which of free are private
	replaced      []int32 // numbers of names
	shares        bool    // share_threshold
	valueToMetric bool
	_             [8]byte // to whole cache lines
}

// counting is what tells the counters of a rule apart: the position of the one
// entry that does, if it is not private, or one of these.
type counting int8

const (
	countsOne   counting = -1 // nothing: there is one
	countsApart counting = -2 // several entries, or a private one: see free and hides
)

func (n *envoyNode) counting() counting {
	switch {
	case len(n.free) == 0:
		return countsOne
	case len(n.free) == 1 && !n.hides[0]:
		return counting(n.free[0])
	}
	return countsApart
}

// locate returns the node of the last pair, if the tree has one.
func (d *envoyDomain) locate(pairs []weir.Pair) found {
	at := &d.first
	var n *envoyNode
	for i := range pairs {
		if end, ok := at.last(pairs[i:]); ok {
			return end
		}
		if n = at.find(&pairs[i]); n == nil {
			return found{}
		}
		at = &n.next
	}
	if n == nil {
		return found{}
	}
	return found{node: n, rule: n.rule, by: n.counts, replaces: n.replaces}
}

// find returns the node of the last pair, or nil when the tree has none, and
// the position of the first pair whose node has no literal value, or -1. Time
// depends on the number of pairs, not of rules.
func (d *envoyDomain) find(pairs []weir.Pair) (node *envoyNode, free int) {
	level, free := d.top, -1
	for i := range pairs {
		s := level[pairs[i].Name]
		if s == nil {
			return nil, free
		}
		if node = s.find(pairs[i].Value); node == nil {
			return nil, free
		}
		if free < 0 && len(node.free) > 0 {
			free = i
		}
		level = node.below
	}
	return node, free
}

// find picks among siblings: the value itself, then wildcards in the order
// written, then the one that takes any value.
func (s *envoySiblings) find(value string) *envoyNode {
	if n := s.exact[value]; n != nil {
		return n
	}
	if n := s.wild.find(value); n != nil {
		return n
	}
	return s.bare
}

// isFree tells whether the node stands for many values with a counter each.
func (n *envoyNode) isFree() bool {
	return n.value == "" || strings.Contains(n.value, wildcard) && !n.shares
}

// depth is the number of pairs that a request needs to get here, from 1.
func (n *envoyNode) depth() int {
	depth := 0
	for ; n != nil; n = n.up {
		depth++
	}
	return depth
}

// composite is the node's name among its siblings.
func (n *envoyNode) composite() string {
	if n.value == "" {
		return n.key
	}
	return n.key + "_" + n.value
}
