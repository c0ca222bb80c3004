package policy

import "slices"

// fewWildcards are tried one by one; more are looked up by how they begin or
// end, so that the time for a match does not grow with their number.
const fewWildcards = 8

// wildcards are the values with a '*' of one level and key, in the order
// written. Of those that match a value, the first counts.
type wildcards struct {
	all []wildcardNode

	// With more than fewWildcards, each is in one of these, by position in all:
	// by the text before its first '*', else by that after its last, else
	// (*part*) it must be tried.
	begins, ends affixes
	rest         []int32
}

type wildcardNode struct {
	pattern pattern
	node    *envoyNode
}

// affixes finds patterns by their beginning, or their end.
type affixes struct {
	lengths []int // that occur
	at      map[string][]int32
}

// add appends a wildcard. index must be called after the last.
func (w *wildcards) add(p pattern, n *envoyNode) { w.all = append(w.all, wildcardNode{p, n}) }

func (w *wildcards) index() {
	if len(w.all) <= fewWildcards {
		return
	}
	for i, e := range w.all {
		first, last := e.pattern.parts[0], e.pattern.parts[len(e.pattern.parts)-1]
		switch {
		case first != "":
			w.begins.add(first, int32(i))
		case last != "":
			w.ends.add(last, int32(i))
		default:
			w.rest = append(w.rest, int32(i))
		}
	}
}

func (a *affixes) add(text string, i int32) {
	if a.at == nil {
		a.at = map[string][]int32{}
	}
	a.at[text] = append(a.at[text], i)
	if at, found := slices.BinarySearch(a.lengths, len(text)); !found {
		a.lengths = slices.Insert(a.lengths, at, len(text))
	}
}

// find returns the node of the first wildcard that matches value, or nil.
func (w *wildcards) find(value string) *envoyNode {
	if i := w.position(value); i < len(w.all) {
		return w.all[i].node
	}
	return nil
}

// position is find for the position in all; len(all) when none matches.
func (w *wildcards) position(value string) int {
	best := len(w.all)
	if best <= fewWildcards {
		for i := range w.all {
			if w.all[i].pattern.match(value) {
				return i
			}
		}
		return best
	}
	for _, n := range w.begins.lengths {
		if n > len(value) {
			break
		}
		best = w.first(w.begins.at[value[:n]], value, best)
	}
	for _, n := range w.ends.lengths {
		if n > len(value) {
			break
		}
		best = w.first(w.ends.at[value[len(value)-n:]], value, best)
	}
	return w.first(w.rest, value, best)
}

// first returns the first of candidates, which ascend, that comes before best
// and matches; else best.
func (w *wildcards) first(candidates []int32, value string, best int) int {
	for _, i := range candidates {
		if int(i) >= best {
			break
		}
		if w.all[i].pattern.match(value) {
			return int(i)
		}
	}
	return best
}
