package policy

import "github.com/weirlimit/weir"

// A request goes down the tree by steps: what a level is compiled to when it is
// whole. With many rules the wait for memory is most of what matching costs, so
// that a step is few places in it: the level of one key, as most are, stands in
// its node, and a value beside the rule that it leads to.

// step finds the node of a pair among those of one level.
type step struct {
	key  string // the only one of the level
	some siblingIndex
	more map[string]*siblingIndex // by key, when there are several; else nil
}

// siblingIndex finds the node of a value among those of one key.
type siblingIndex struct {
	exact *exactIndex // nil when there are none
	wild  *wildcards  // the same
	bare  *envoyNode
}

func newStep(level envoyLevel, room *[]exactPlace) step {
	var s step
	if len(level) > 1 {
		s.more = make(map[string]*siblingIndex, len(level))
	}
	for key, of := range level {
		some := newSiblingIndex(of, room)
		if s.more != nil {
			s.more[key] = &some
		} else {
			s.key, s.some = key, some
		}
	}
	return s
}

func newSiblingIndex(s *envoySiblings, room *[]exactPlace) siblingIndex {
	x := siblingIndex{bare: s.bare}
	if len(s.exact) > 0 {
		x.exact = newExactIndex(s.exact, room)
	}
	if len(s.wild.all) > 0 {
		x.wild = &s.wild
	}
	return x
}

// found is where a request ends, with what is needed of it: the node itself need
// not be looked at.
type found struct {
	node     *envoyNode // nil when there is none
	rule     *Rule
	by       counting
	replaces bool
}

// last finds the end of pairs, one or two, by a look at one place; it returns
// false where that is not enough.
func (s *step) last(pairs []weir.Pair) (found, bool) {
	if len(pairs) > 2 || s.more != nil || s.some.exact == nil || s.key != pairs[0].Name {
		return found{}, false
	}
	p := s.some.exact.place(pairs[0].Value)
	switch {
	case p == nil:
	case len(pairs) == 1 && p.key == nil, len(pairs) == 2 && p.key != nil && *p.key == pairs[1].Name:
		return p.found(), true
	}
	return found{}, false
}

// find returns the node of a pair, or nil.
func (s *step) find(pair *weir.Pair) *envoyNode {
	if s.more == nil {
		if s.key != pair.Name {
			return nil
		}
		return s.some.find(pair.Value)
	}
	if some := s.more[pair.Name]; some != nil {
		return some.find(pair.Value)
	}
	return nil
}

// find picks among siblings as envoySiblings does.
func (x *siblingIndex) find(value string) *envoyNode {
	if x.exact != nil {
		if n := x.exact.find(value); n != nil {
			return n
		}
	}
	if x.wild != nil {
		if n := x.wild.find(value); n != nil {
			return n
		}
	}
	return x.bare
}
