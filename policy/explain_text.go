package policy

import (
	"fmt"
	"strings"
)

// Text writes the explanation for a terminal.
func (e Explanation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "domain %s, format %s, version %s\n", e.Domain, e.Format, e.Version)
	if e.Policy != "" {
		fmt.Fprintf(&b, "policy %s is asked for, and no other\n", e.Policy)
	}
	for i := range e.Descriptors {
		e.Descriptors[i].text(&b)
	}
	if e.Error != "" {
		fmt.Fprintf(&b, "error\n  %s\n", e.Error)
		return b.String()
	}
	e.verdict(&b)
	return b.String()
}

// text writes one descriptor.
func (out *ExplainedDescriptor) text(b *strings.Builder) {
	b.WriteString("request")
	for _, p := range out.Dimensions {
		b.WriteString(" " + printable(p.Name+"="+p.Value))
	}
	if len(out.Dimensions) == 0 {
		b.WriteString(" without dimensions")
	}
	if out.Plan != "" {
		fmt.Fprintf(b, ", on plan %s", printable(out.Plan))
	}
	b.WriteString("\n")
	for i, s := range out.Path {
		node := s.Node
		if node == "" {
			node = "stops"
		}
		fmt.Fprintf(b, "  %d. %s -> %s", i+1, printable(s.Entry), node)
		if s.At != "" {
			fmt.Fprintf(b, " (%s)", s.At)
		}
		fmt.Fprintf(b, ": %s\n", s.How)
	}
	writeRules(b, "  applies\n", out.Applied)
	writeRules(b, "  does not apply\n", out.Missed)
	if out.Others > 0 {
		fmt.Fprintf(b, "    and %d more\n", out.Others)
	}
}

func writeRules(b *strings.Builder, title string, rules []ExplainedRule) {
	if len(rules) == 0 {
		return
	}
	b.WriteString(title)
	for _, r := range rules {
		fmt.Fprintf(b, "    %s", r.Rule)
		if r.At != "" {
			fmt.Fprintf(b, " (%s)", r.At)
		}
		fmt.Fprintf(b, ": %s", r.Why)
		if r.Counter != "" {
			fmt.Fprintf(b, "; counter %s", printable(r.Counter))
		}
		b.WriteString("\n")
	}
}

// verdict writes what a store is asked.
func (e *Explanation) verdict(b *strings.Builder) {
	switch {
	case e.Denied:
		b.WriteString("denied by a limit of 0\n")
		return
	case len(e.Charges) == 0:
		b.WriteString("nothing to charge: the request passes\n")
		return
	}
	b.WriteString("charges\n")
	for _, c := range e.Charges {
		fmt.Fprintf(b, "  %s: %s, cost %d, %s, key %s", c.Rule, c.Limit, c.Cost, c.Mode, printable(c.Key))
		if c.Twin != "" {
			fmt.Fprintf(b, " or %s", printable(c.Twin))
		}
		if c.Shards > 0 {
			fmt.Fprintf(b, ", one of %d", c.Shards)
		}
		if c.Lease {
			b.WriteString(", lease auto") // whether it is leased is the server's to say: share, instances, how hot
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "on failure %s", e.OnFailure)
	if e.Deadline != "" {
		fmt.Fprintf(b, ", deadline %s", e.Deadline)
	}
	b.WriteString("\n")
}

// printable leaves text alone unless a terminal would not.
func printable(text string) string {
	if quoted := fmt.Sprintf("%q", text); quoted[1:len(quoted)-1] != text {
		return quoted
	}
	return text
}
