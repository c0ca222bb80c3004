package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// The oracle looks at every policy of a file as it was written, with regular
// expressions. It shares no code with the index, the patterns or the matching.

func oracleGlob(pattern, text string) bool {
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	return regexp.MustCompile(`(?s)\A` + expr + `\z`).MatchString(text)
}

type oracleRequest map[string]string

func (q oracleRequest) route(methods []string, path string) bool {
	cut := func(s string) string { before, _, _ := strings.Cut(s, "?"); return before }
	try := func(method, at string) bool {
		allowed := len(methods) == 0 || slices.Contains(methods, strings.ToUpper(method))
		return at != "" && allowed && oracleGlob(path, at)
	}
	if try(q["method"], cut(q["path"])) {
		return true
	}
	words := strings.Fields(cut(q["route"]))
	switch len(words) {
	case 1:
		return try(q["method"], words[0])
	case 2:
		return try(words[0], words[1])
	}
	return false
}

// oracleCounters are the counters a request meets, as policy|value|value.
func oracleCounters(f *NativeFile, pairs []weir.Pair) []string {
	q := oracleRequest{}
	for _, p := range pairs {
		q[p.Name] = p.Value
	}
	if q["plan"] == "" {
		for _, t := range f.Tenants {
			if t.Tenant == q["tenant"] {
				q["plan"] = t.Plan
			}
		}
	}
	out := []string{}
next:
	for _, p := range f.Policies {
		for _, c := range p.Match {
			v := q[c.Dimension]
			if v == "" || !slices.ContainsFunc(c.Patterns, func(pat string) bool { return oracleGlob(pat, v) }) {
				continue next
			}
		}
		route := ""
		for _, rt := range p.Routes {
			if route == "" && q.route(rt.Methods, rt.Path) {
				route = strings.TrimLeft(strings.Join(rt.Methods, "|")+" "+rt.Path, " ")
			}
		}
		if len(p.Routes) > 0 && route == "" {
			continue next
		}
		counter := p.ID
		for _, by := range p.By {
			v := q[by]
			if v == "" && by == "route" {
				v = route
			}
			if v == "" {
				continue next
			}
			counter += "|" + v
		}
		out = append(out, counter)
	}
	return out
}

// resolvedCounters are the same, from the compiled set: keys are turned back
// into counters by asking each policy alone.
func resolvedCounters(t *rapid.T, s *Set, f *NativeFile, pairs []weir.Pair) []string {
	var p Plan
	if err := s.Resolve(&weir.Request{Domain: f.Domain, Descriptors: []weir.Descriptor{{Pairs: pairs}}}, &p); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, u := range p.Uses {
		out = append(out, u.Rule.ID+" "+p.Charges[u.Charge].Key)
	}
	return out
}

var (
	genValue   = rapid.StringMatching(`[ab/]{0,4}`)
	genPattern = rapid.OneOf(rapid.StringMatching(`[ab/]{1,3}`), rapid.StringMatching(`[ab/*]{1,4}`))
	genMethod  = rapid.SampledFrom([]string{"", "GET", "POST", "get"})
	genDims    = rapid.SampledFrom([]string{"tenant", "user", "plan", "x", "route"})
)

// genFile writes a file of random policies.
func genFile(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("policies:\n")
	for i := range rapid.IntRange(1, 12).Draw(t, "policies") {
		fmt.Fprintf(&b, "- id: p%d\n  limits: 5/s\n", i)
		var match []string
		for _, dim := range rapid.SliceOfNDistinct(genDims, 0, 3, rapid.ID).Draw(t, "match") {
			patterns := rapid.SliceOfN(genPattern, 1, 10).Draw(t, dim)
			if dim == "route" {
				for j := range patterns {
					if m := genMethod.Draw(t, "method"); m != "" {
						patterns[j] = m + " " + patterns[j]
					}
				}
			}
			match = append(match, fmt.Sprintf("%s: [%q]", dim, strings.Join(patterns, `", "`)))
		}
		if len(match) > 0 {
			text := strings.ReplaceAll(strings.Join(match, ", "), `\"`, `"`)
			fmt.Fprintf(&b, "  match: {%s}\n", text)
		}
		if by := rapid.SliceOfNDistinct(genDims, 0, 3, rapid.ID).Draw(t, "by"); len(by) > 0 {
			fmt.Fprintf(&b, "  by: [%s]\n", strings.Join(by, ", "))
		}
	}
	b.WriteString("tenants: {a: a, b: aa}\n")
	return b.String()
}

func genPairs(t *rapid.T) []weir.Pair {
	var pairs []weir.Pair
	for _, dim := range []string{"tenant", "user", "plan", "x", "path"} {
		if v := genValue.Draw(t, dim); rapid.Bool().Draw(t, "with "+dim) {
			pairs = append(pairs, weir.Pair{Name: dim, Value: v})
		}
	}
	if rapid.Bool().Draw(t, "with query") {
		for i := range pairs {
			if pairs[i].Name == "path" {
				pairs[i].Value += "?a=b"
			}
		}
	}
	if m := genMethod.Draw(t, "method"); m != "" {
		pairs = append(pairs, weir.Pair{Name: "method", Value: m})
	}
	if v := genValue.Draw(t, "route"); v != "" {
		if m := genMethod.Draw(t, "route method"); m != "" {
			v = m + " " + v
		}
		pairs = append(pairs, weir.Pair{Name: "route", Value: v})
	}
	return rapid.Permutation(pairs).Draw(t, "order")
}

// TestMatchingIsTheOracles tries random policies on random requests: the same
// policies apply, in the same order, and requests share a key when, and only
// when, they share a counter.
func TestMatchingIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := genFile(t)
		f, problems := ParseNative("f", []byte(text))
		if f == nil {
			t.Fatalf("%s\n%v", text, problems)
		}
		s, problems := Compile([]*File{{Name: "f", Native: f}}, Options{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		byCounter, byKey := map[string]string{}, map[string]string{}
		for range 8 {
			pairs := genPairs(t)
			want, got := oracleCounters(f, pairs), resolvedCounters(t, s, f, pairs)
			if len(want) != len(got) {
				t.Fatalf("%s\n%v\n got %q\nwant %q", text, pairs, got, want)
			}
			for i := range want {
				id, _, _ := strings.Cut(want[i], "|")
				if rule, _, _ := strings.Cut(got[i], " "); rule != id {
					t.Fatalf("%s\n%v\n got %q\nwant %q", text, pairs, got, want)
				}
				if k, ok := byCounter[want[i]]; ok && k != got[i] {
					t.Fatalf("%s: one counter %q, keys %q and %q", text, want[i], k, got[i])
				}
				if c, ok := byKey[got[i]]; ok && c != want[i] {
					t.Fatalf("%s: one key %q, counters %q and %q", text, got[i], c, want[i])
				}
				byCounter[want[i]], byKey[got[i]] = got[i], want[i]
			}
		}
	})
}

// TestCountersAreApart gives a policy of three dimensions values that joined
// keys confuse: different values are different keys.
func TestCountersAreApart(t *testing.T) {
	set := compileTexts(t, Options{}, "policies:\n- {id: a, by: [x, tenant, y], limits: 5/s}\n- {id: ab, by: [x, tenant, y], limits: 5/s}\n")
	hostile := rapid.SampledFrom([]string{"a", "b", "ab", "}", "{", "%", "%7D", "1:a", "|", "a|b", "_", " ", "\x00", "\xff", "ws", strings.Repeat("x", 300)})
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string][3]string{}
		for range 20 {
			v := [3]string{hostile.Draw(t, "x"), hostile.Draw(t, "tenant"), hostile.Draw(t, "y")}
			r := &weir.Request{Domain: DefaultDomain, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{
				{Name: "x", Value: v[0]}, {Name: "tenant", Value: v[1]}, {Name: "y", Value: v[2]},
			}}}}
			var p Plan
			if err := set.Resolve(r, &p); err != nil || len(p.Charges) != 2 || p.Charges[0].Key == p.Charges[1].Key {
				t.Fatalf("%q: %v %v", v, p.Charges, err)
			}
			for _, c := range p.Charges {
				k := strings.Clone(c.Key)
				if first, ok := seen[k]; ok && first != v {
					t.Fatalf("%q and %q share %q", first, v, k)
				}
				seen[k] = v
			}
		}
	})
}

func TestPatternIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab*]{0,6}`).Draw(t, "pattern"), rapid.StringMatching(`[ab*]{0,8}`).Draw(t, "other")
		text := strings.ReplaceAll(b, "*", rapid.StringMatching(`[ab]{0,3}`).Draw(t, "filling"))
		if got, want := newPattern(a).match(text), oracleGlob(a, text); got != want {
			t.Fatalf("%q on %q: %v, want %v", a, text, got, want)
		}
		if newPattern(a).covers(newPattern(b)) && !newPattern(a).match(text) {
			t.Fatalf("%q is said to cover %q, and does not match its %q", a, b, text)
		}
	})
}
