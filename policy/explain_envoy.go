package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weirlimit/weir"
)

func (e *Explanation) explainEnvoy(d *envoyDomain, r *weir.Request, p *Plan) {
	for i := range r.Descriptors {
		out := describe(&r.Descriptors[i])
		d.walk(&out, r.Descriptors[i].Pairs)
		if i < len(p.Descriptors) {
			out.settle(&p.Descriptors[i], &r.Descriptors[i])
		}
		e.Descriptors = append(e.Descriptors, out)
	}
}

// walk goes down the tree as find does, and notes each step.
func (d *envoyDomain) walk(out *ExplainedDescriptor, pairs []weir.Pair) {
	level, up := d.top, (*envoyNode)(nil)
	for i := range pairs {
		entry := pairs[i].Name + "=" + pairs[i].Value
		s := level[pairs[i].Name]
		if s == nil {
			out.Path = append(out.Path, ExplainedStep{Entry: entry, How: noSuchKey(level, up, pairs[i].Name)})
			out.missNode(up, "a limit holds for descriptors of its own depth only, and the request goes on with "+entry)
			out.missLevel(level, pairs[i].Name)
			return
		}
		n := s.find(pairs[i].Value)
		if n == nil {
			out.Path = append(out.Path, ExplainedStep{Entry: entry, How: "none of the values of key " + show(pairs[i].Name) + " matches"})
			out.missValues(s, pairs[i].Value)
			return
		}
		out.Path = append(out.Path, ExplainedStep{Entry: entry, Node: n.composite(), At: n.at.String(), How: s.how(n, pairs[i].Value)})
		level, up = n.below, n
	}
	if up != nil && up.rule == nil && len(up.below) > 0 {
		out.Path[len(out.Path)-1].How += "; it has no limit of its own, those below need more entries"
		out.missLevel(level, "")
	}
}

// how says which way a node was found.
func (s *envoySiblings) how(n *envoyNode, value string) string {
	switch {
	case n == s.exact[value]:
		return "the value itself"
	case n == s.bare:
		return "any value, a counter each"
	}
	return "the first wildcard that matches"
}

func noSuchKey(level envoyLevel, up *envoyNode, name string) string {
	if len(level) == 0 && up != nil {
		return "nothing is configured below " + up.composite()
	}
	return fmt.Sprintf("no descriptor has the key %s here, only %s", show(name), wanted(slices.Sorted(maps.Keys(level))))
}

// missNode notes a rule that was passed by.
func (out *ExplainedDescriptor) missNode(n *envoyNode, why string) {
	if n == nil || n.rule == nil {
		return
	}
	if len(out.Missed) == maxMissed {
		out.Others++
		return
	}
	out.Missed = append(out.Missed, ExplainedRule{Rule: n.rule.ID, At: n.at.String(), Why: why})
}

// missLevel notes the rules of a level, the keys nearest to name first.
func (out *ExplainedDescriptor) missLevel(level envoyLevel, name string) {
	keys := slices.Sorted(maps.Keys(level))
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Compare(distance(name, a, farOff), distance(name, b, farOff))
	})
	for _, key := range keys {
		why := fmt.Sprintf("its key is %s, not %s", show(key), show(name))
		if name == "" {
			why = "the request has no entry " + show(key) + " behind the others"
		}
		for _, n := range level[key].nodes() {
			out.missNode(n, why)
		}
	}
}

// missValues notes the rules of a key, the values nearest to value first.
func (out *ExplainedDescriptor) missValues(s *envoySiblings, value string) {
	nodes := s.nodes()
	slices.SortStableFunc(nodes, func(a, b *envoyNode) int {
		return cmp.Compare(distance(value, a.value, farOff), distance(value, b.value, farOff))
	})
	for _, n := range nodes {
		out.missNode(n, differs(n.key, value, []string{n.value}))
	}
}

// nodes are the siblings, in the order they were written in.
func (s *envoySiblings) nodes() []*envoyNode {
	nodes := slices.Collect(maps.Values(s.exact))
	if s.bare != nil {
		nodes = append(nodes, s.bare)
	}
	slices.SortFunc(nodes, func(a, b *envoyNode) int { return a.at.compare(b.at) })
	return nodes
}

// settle notes what the descriptor met in the end.
func (out *ExplainedDescriptor) settle(m *Matched, d *weir.Descriptor) {
	switch {
	case m.Replaced != nil:
		out.Missed = append([]ExplainedRule{{
			Rule: m.Replaced.ID, At: m.Replaced.At.String(),
			Why: "a rule that another descriptor meets replaces " + show(m.Replaced.Name),
		}}, out.Missed...)
	case m.Rule == nil:
		if n := len(out.Path); n > 0 && out.Path[n-1].Node != "" && len(out.Missed) == 0 && out.Others == 0 {
			out.Path[n-1].How += "; it has no limit, and lets all pass"
		}
	default:
		out.Applied = append(out.Applied, ExplainedRule{
			Rule: m.Rule.ID, At: m.Rule.At.String(), Why: m.why(d), Counter: m.counter(d),
		})
	}
}

func (m *Matched) why(d *weir.Descriptor) string {
	switch {
	case d.Limit != nil:
		return "the request brings a limit of its own"
	case m.Unlimited:
		return "unlimited: not counted"
	case m.Rule.Denies:
		return "a limit of 0 denies all"
	case m.Rule.Mode == weir.Shadow:
		return "its own limits; in shadow, denies nothing"
	case m.Rule.Quota:
		return "its own limits; a quota, denies only when all quotas of the request do"
	}
	return "its own limits"
}

// counter is what tells the descriptor's counter from others of its rule.
func (m *Matched) counter(d *weir.Descriptor) string {
	if d.Limit != nil || m.node == nil || m.Unlimited {
		return ""
	}
	if len(m.node.free) == 0 {
		return "one for all"
	}
	text := ""
	for _, i := range m.node.free {
		if text != "" {
			text += " "
		}
		text += d.Pairs[i].Name + "=" + d.Pairs[i].Value
	}
	return text
}
