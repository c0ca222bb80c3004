package policy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestEnvoyAliases: anchors, aliases and merges mean what YAML says.
func TestEnvoyAliases(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: a
    rate_limit: &std {unit: second, requests_per_unit: 5}
  - key: b
    rate_limit: *std
  - key: c
    rate_limit:
      <<: *std
      requests_per_unit: 7
  - key: e
    rate_limit:
      requests_per_unit: 8
      <<: [{unit: hour}, *std]
  - &f
    key: f
    rate_limit: *std
    descriptors:
      - &g {key: g, rate_limit: *std}
  - <<: *f
    value: v
    descriptors: [*g]
  - &h
    key: h
    rate_limit: &hourly {<<: [{unit: hour}, *std]}
  - {<<: [{<<: [{value: w}, *h]}, *f], rate_limit: {<<: *hourly, requests_per_unit: 9}}
`)
	p := resolved(t, s, envoyAsk("a=1", "b=1", "c=1", "e=1", "f=1", "f=v", "f=v,g=1", "h=1", "h=w"))
	want := "a enforce:1:5/s | b enforce:1:5/s | c enforce:1:7/s | e enforce:1:8/h | f enforce:1:5/s | f_v enforce:1:5/s | f_v.g enforce:1:5/s" +
		" | h enforce:1:5/h | h_w enforce:1:9/h"
	if got := tell(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEnvoyScalars: what the service reads as a string is one here.
func TestEnvoyScalars(t *testing.T) {
	f, problems := ParseEnvoy("f.yaml", []byte(`
domain: 12
descriptors:
  - {key: 404, value: true}
  - {key: 1.5, value: 2001-01-01}
  - {key: yes, value: 0x1F, shadow_mode: yes, quota_mode: Off, detailed_metric: on, value_to_metric: null}
  - {key: null-ish, value: null, rate_limit: null, descriptors: null, metadata: null}
`))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	var got []string
	for _, d := range f.Descriptors {
		got = append(got, d.composite())
	}
	if want := "404_true 1.5_2001-01-01 yes_0x1F null-ish"; strings.Join(got, " ") != want || f.Domain != "12" {
		t.Errorf("domain %s with %v, want 12 with %s", f.Domain, got, want)
	}
	if d := f.Descriptors[2]; !d.Shadow || d.Quota || !d.DetailedMetric || d.ValueToMetric {
		t.Errorf("flags: %+v", d)
	}
}

func TestEnvoyMetadata(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: k
    rate_limit: {unit: second, requests_per_unit: 1}
    metadata:
      text: a
      number: 3
      big: 18446744073709551615
      fraction: 0.5
      truth: true
      nothing:
      12: twelve
      ? [1, 2]
      : pair
      a-name-that-is-longer-than-what-a-message-would-repeat-of-a-text-in-it: long
      list: [a, 1, {deep: [x]}]
      unknown_key: fine
      base: &base {a: 1, b: 2}
      more: {<<: *base, b: 3}
`)
	want := map[string]any{
		"text": "a", "number": int64(3), "big": uint64(18446744073709551615), "fraction": 0.5, "truth": true, "nothing": nil, "12": "twelve",
		"[1 2]": "pair", "a-name-that-is-longer-than-what-a-message-would-repeat-of-a-text-in-it": "long",
		"list":        []any{"a", int64(1), map[string]any{"deep": []any{"x"}}},
		"unknown_key": "fine",
		"base":        map[string]any{"a": int64(1), "b": int64(2)},
		"more":        map[string]any{"a": int64(1), "b": int64(3)},
	}
	got := resolved(t, s, envoyAsk("k=1")).Descriptors[0].Rule.Metadata
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// nested is n levels of descriptors, the last with a limit.
func nested(n int) string {
	return "domain: d\ndescriptors: " + strings.Repeat("[{key: k, descriptors: ", n-1) +
		"[{key: k, rate_limit: {unit: day, requests_per_unit: 1}}]" + strings.Repeat("}]", n-1) + "\n"
}

// laughs is n levels of maps of ten aliases each.
func laughs(n int, merge bool) string {
	b := &strings.Builder{}
	b.WriteString("domain: d\ndescriptors:\n- key: k\n  metadata:\n    a0: &a0 {x: 1}\n")
	for i := 1; i <= n; i++ {
		alias := fmt.Sprintf("*a%d", i-1)
		if merge {
			fmt.Fprintf(b, "    a%d: &a%d {<<: [%s]}\n", i, i, strings.Join(slicesOf(alias, 10), ", "))
		} else {
			fmt.Fprintf(b, "    a%d: &a%d [%s]\n", i, i, strings.Join(slicesOf(alias, 10), ", "))
		}
	}
	return b.String()
}

func slicesOf(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// TestEnvoyPoison: files made to break a reader are refused, with a reason and
// a place, in time that does not explode: all of them take 2 seconds.
func TestEnvoyPoison(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"10 MB of text", "domain: " + strings.Repeat("x", 10<<20), "f.yaml:1:1: error loading config file: the file has 10485768 bytes, more than 9999999"},
		{"10 MB of nothing", strings.Repeat(" \n", 5_000_000), "f.yaml:1:1: error loading config file: the file has 10000000 bytes, more than 9999999"},
		{"many values", "domain: " + strings.Repeat("[],", 1_600_000), "f.yaml:1:1: error loading config file: the file has too many YAML values"},
		{"9 MB of brackets", strings.Repeat("[", 3_000_000), "error loading config file: yaml: exceeded max depth of 10000"},
		{"many braces", strings.Repeat("{a: ", 700_000), "exceeded max depth"},
		{"many dashes", strings.Repeat("- ", 1_000_000), "exceeded max depth"},
		{"many questions", strings.Repeat("? ", 1_000_000), "exceeded max depth"},
		{"deeper than descriptors go", nested(maxEnvoyDepth + 1), "f.yaml:2:750: error loading config file: descriptors are nested deeper than 32 levels"},
		{"deeper than maps go", nested(100), "error loading config file: maps are nested deeper than 64 levels"},
		{"deep as YAML goes", nested(4_000), "error loading config file: maps are nested deeper than 64 levels"},
		{"deep metadata", "domain: d\ndescriptors: [{key: k, metadata: " + strings.Repeat("{a: ", 100) + strings.Repeat("}", 100) + "}]", "error loading config file: maps are nested deeper than 64 levels"},
		{"a billion laughs", laughs(9, false), "error loading config file: document contains excessive aliasing"},
		{"a billion merges", laughs(9, true), "error loading config file: document contains excessive aliasing"},
		{"a snake", "domain: d\ndescriptors: &a [{key: k, descriptors: *a}]", "error loading config file: maps are nested deeper than 64 levels"},
		{"snakes", "domain: d\ndescriptors: &a [{key: k, descriptors: *a}, {key: l, descriptors: *a}]", "error loading config file: document contains excessive aliasing"},
		{"a snake that merges", "domain: d\ndescriptors: [&a {key: k, <<: *a}]", "error loading config file: merges are nested too deeply"},
		{"a snake in metadata", "domain: d\ndescriptors: [{key: k, metadata: &a {a: *a, b: *a}}]", "error loading config file: document contains excessive aliasing"},
		{"merge of a number", "domain: d\ndescriptors: [{key: k, <<: 1}]", "f.yaml:2:28: error loading config file: map merge requires map or sequence of maps as the value"},
		{"merge of a list of numbers", "domain: d\ndescriptors: [{key: k, <<: [1]}]", "f.yaml:2:29: error loading config file: map merge requires map or sequence of maps as the value"},
		{"a key very many times", "domain: d\n" + strings.Repeat("domain: d\n", 20_000), "f.yaml:3:1: error loading config file: mapping key \"domain\" already defined at line 1"},
		{"a key very many times, merged", "domain: d\ndescriptors: [&a {key: k}, {" + strings.Repeat("<<: *a, ", 30_000) + "}]", "duplicate descriptor composite key 'd.k'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, problems := ParseEnvoy("f.yaml", []byte(tc.text))
			if got := linesOf(problems, false); f != nil || !strings.Contains(got, tc.want) {
				t.Errorf("file %v, problems\n%.500s\nwant\n%s", f != nil, got, tc.want)
			}
			if len(problems) == 0 || problems[0].At.Line == 0 {
				t.Errorf("no line: %.200v", problems)
			}
		})
	}
}

func TestEnvoyDepth(t *testing.T) {
	s := envoySet(t, Options{}, nested(maxEnvoyDepth))
	got := tell(resolved(t, s, envoyAsk(strings.Join(slicesOf("k=1", maxEnvoyDepth), ","))))
	if want := strings.Join(slicesOf("k", maxEnvoyDepth), ".") + " enforce:1:1/d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEnvoyManyProblems: the first hundred are told, and that there are more.
func TestEnvoyManyProblems(t *testing.T) {
	text := "domain: d\ndescriptors:\n" + strings.Repeat("- {value: x}\n", maxProblems+7)
	_, problems := ParseEnvoy("f.yaml", []byte(text))
	if len(problems) != maxProblems+1 {
		t.Fatalf("%d problems, want %d", len(problems), maxProblems+1)
	}
	if got := problems[maxProblems].String(); got != "f.yaml: 7 more problems are not shown" {
		t.Errorf("the last is %q", got)
	}
}
