package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// envoySet compiles files, of which none may have an error.
func envoySet(t testing.TB, o Options, files ...string) *Set {
	t.Helper()
	var parsed []*File
	for i, text := range files {
		name := fmt.Sprintf("%c.yaml", 'a'+i)
		f, problems := ParseEnvoy(name, []byte(text))
		if HasErrors(problems) {
			t.Fatalf("parse: %v", problems)
		}
		parsed = append(parsed, &File{Name: name, Envoy: f})
	}
	s, problems := Compile(parsed, o)
	if HasErrors(problems) {
		t.Fatalf("compile: %v", problems)
	}
	return s
}

// envoyPairs reads k=v,k=v.
func envoyPairs(text string) []weir.Pair {
	var ps []weir.Pair
	for part := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			ps = append(ps, weir.Pair{Name: name, Value: value})
		}
	}
	return ps
}

// envoyAsk reads descriptors written k=v,k=v for the domain d.
func envoyAsk(descriptors ...string) *weir.Request {
	r := &weir.Request{Domain: "d"}
	for _, text := range descriptors {
		r.Descriptors = append(r.Descriptors, weir.Descriptor{Pairs: envoyPairs(text)})
	}
	return r
}

func resolved(t testing.TB, s *Set, r *weir.Request) *Plan {
	t.Helper()
	p := &Plan{}
	if err := s.Resolve(r, p); err != nil {
		t.Fatalf("resolve: %v", err)
	}
	if len(p.Descriptors) != len(r.Descriptors) {
		t.Fatalf("%d descriptors matched, of %d", len(p.Descriptors), len(r.Descriptors))
	}
	return p
}

// tell writes what a plan says of each descriptor, one a word or more:
// - for nothing, else the rule's id and, of what is charged, mode and limit.
func tell(p *Plan) string {
	var lines []string
	for i, m := range p.Descriptors {
		line := "-"
		if m.Rule != nil {
			line = m.Rule.ID
		}
		if m.Unlimited {
			line += " unlimited"
		}
		if m.Denies != nil {
			line += " denies"
		}
		if m.Replaced != nil {
			line += " replaced:" + m.Replaced.ID
		}
		for _, u := range p.Uses {
			if u.Descriptor != i {
				continue
			}
			c := p.Charges[u.Charge]
			line += fmt.Sprintf(" %s:%d:%s", c.Mode, u.Cost, strings.ReplaceAll(u.Meter.Limit.String(), " ", ":"))
			if c.Group != 0 {
				line += ":group"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " | ")
}

// keysOfPlan are the keys of a plan's charges, as they are stored.
func keysOfPlan(p *Plan) []string {
	var keys []string
	for i := range p.Charges {
		keys = append(keys, strings.Clone(p.Charges[i].Key))
	}
	return keys
}
