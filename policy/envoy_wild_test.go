package policy

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// matchesNaively is the definition: a star is nothing, or a character and a star.
func matchesNaively(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '*' {
		return matchesNaively(pattern[1:], text) || text != "" && matchesNaively(pattern, text[1:])
	}
	return text != "" && pattern[0] == text[0] && matchesNaively(pattern[1:], text[1:])
}

// TestWildcardsAgainstOracle: whatever the patterns and however many, the first
// that matches is found.
func TestWildcardsAgainstOracle(t *testing.T) {
	pattern := rapid.StringMatching(`[ab]{0,3}\*[ab*]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfN(pattern, 0, 3*fewWildcards).Draw(t, "patterns")
		var w wildcards
		for _, text := range patterns {
			w.add(newPattern(text), &envoyNode{value: text})
		}
		w.index()
		for range 10 {
			value := rapid.StringMatching(`[ab*]{0,8}`).Draw(t, "value")
			want := len(patterns)
			for i, text := range patterns {
				if matchesNaively(text, value) {
					want = i
					break
				}
			}
			if got := w.position(value); got != want {
				t.Fatalf("%q of %q is %d, want %d", value, patterns, got, want)
			}
			if n := w.find(value); (n == nil) != (want == len(patterns)) || n != nil && n != w.all[want].node {
				t.Fatalf("find gives %v for %d", n, want)
			}
		}
	})
}

// TestUnreachableWildcards: a wildcard is called unreachable when, and only
// when, no value gets to it.
func TestUnreachableWildcards(t *testing.T) {
	var values []string
	for n, from := 0, []string{""}; n < 6; n++ {
		values = append(values, from...)
		var next []string
		for _, v := range from {
			next = append(next, v+"a", v+"b", v+"c")
		}
		from = next
	}
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]?\*[ab]?`), 1, 4, rapid.ID[string]).Draw(t, "patterns")
		b := envoyBuilder{envoyCompiler: &envoyCompiler{}}
		s := &envoySiblings{}
		for i, text := range patterns {
			s.add(&envoyNode{key: "k", value: text, at: Position{Line: i + 1}})
		}
		s.wild.index()
		b.checkReach(s)
		told := map[int]bool{}
		for _, p := range b.problems {
			told[p.At.Line-1] = true
		}
		reached := map[int]bool{}
		for _, v := range values {
			reached[s.wild.position(v)] = true
		}
		for i, text := range patterns {
			if told[i] == reached[i] {
				t.Fatalf("%q of %q: told %v, reached %v", text, patterns, told[i], reached[i])
			}
		}
	})
}

// BenchmarkWildcards: the time for a match does not grow with their number.
func BenchmarkWildcards(b *testing.B) {
	for _, n := range []int{fewWildcards, 1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var w wildcards
			for i := range n {
				w.add(newPattern(fmt.Sprintf("/tenant-%06d/*", i)), &envoyNode{})
			}
			w.index()
			value := fmt.Sprintf("/tenant-%06d/reports", n-1)
			b.ReportAllocs()
			for b.Loop() {
				if w.find(value) == nil {
					b.Fatal("no match")
				}
			}
		})
	}
}
