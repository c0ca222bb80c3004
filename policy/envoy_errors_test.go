package policy

import (
	"fmt"
	"strings"
	"testing"
)

// problemsOf parses and, when that goes well, compiles one file.
func problemsOf(text string) []Problem {
	f, problems := ParseEnvoy("f.yaml", []byte(text))
	if f == nil {
		return problems
	}
	_, more := Compile([]*File{{Name: "f.yaml", Envoy: f}}, Options{})
	return append(problems, more...)
}

func linesOf(problems []Problem, warning bool) string {
	var lines []string
	for _, p := range problems {
		if p.Warning == warning {
			lines = append(lines, p.At.String()+": "+p.Message)
		}
	}
	return strings.Join(lines, "\n")
}

// TestEnvoyErrorTexts has each text of envoyproxy/ratelimit, word by word, with
// the line and the column that Weir adds.
func TestEnvoyErrorTexts(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty domain", "domain: ''\n", "f.yaml:1:9: config file cannot have empty domain"},
		{"no domain", "descriptors: []\n", "f.yaml:1:1: config file cannot have empty domain"},
		{"empty file", "", "f.yaml:1:1: config file cannot have empty domain"},
		{"only a comment", "# nothing\n", "f.yaml:1:1: config file cannot have empty domain"},
		{"empty document", "---\n", "f.yaml:1:1: config file cannot have empty domain"},
		{"null", "null\n", "f.yaml:1:1: config file cannot have empty domain"},
		{"null domain", "domain:\n", "f.yaml:1:8: config file cannot have empty domain"},
		{
			"empty key", "domain: d\ndescriptors:\n  - value: v\n",
			"f.yaml:3:5: descriptor has empty key",
		},
		{
			"empty key below", "domain: d\ndescriptors:\n  - key: a\n    descriptors:\n      - key: ''\n",
			"f.yaml:5:9: descriptor has empty key",
		},
		{
			"duplicate key and value", "domain: d\ndescriptors:\n  - {key: k, value: v}\n  - {key: k}\n  - {key: k, value: v}\n",
			"f.yaml:5:5: duplicate descriptor composite key 'd.k_v'",
		},
		{
			"duplicate bare key", "domain: d\ndescriptors:\n  - {key: k}\n  - {key: k}\n",
			"f.yaml:4:5: duplicate descriptor composite key 'd.k'",
		},
		{
			"duplicate below", "domain: d\ndescriptors:\n  - key: a\n    value: b\n    descriptors: [{key: k}, {key: k}]\n",
			"f.yaml:5:29: duplicate descriptor composite key 'd.a_b.k'",
		},
		{
			"duplicate when joined", "domain: d\ndescriptors:\n  - {key: a, value: b}\n  - {key: a_b}\n",
			"f.yaml:4:5: duplicate descriptor composite key 'd.a_b'",
		},
		{
			"unit", "domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: foo\n      requests_per_unit: 1\n",
			"f.yaml:5:13: invalid rate limit unit 'foo'",
		},
		{
			"unit unknown", "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: UNKNOWN, requests_per_unit: 1}\n",
			"f.yaml:4:24: invalid rate limit unit 'UNKNOWN'",
		},
		{
			"no unit", "domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      requests_per_unit: 1\n",
			"f.yaml:5:7: invalid rate limit unit ''",
		},
		{
			"empty limit", "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {}\n",
			"f.yaml:4:17: invalid rate limit unit ''",
		},
		{
			"unlimited with unit", "domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      unit: Day\n",
			"f.yaml:6:13: should not specify rate limit unit when unlimited",
		},
		{
			"empty replaces", "domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: 1\n      replaces:\n        - name: ''\n",
			"f.yaml:8:11: should not have an empty replaces entry",
		},
		{
			"replaces itself", "domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: 1\n      name: n\n      replaces:\n        - name: n\n",
			"f.yaml:9:11: replaces should not contain name of same descriptor",
		},
		{
			"share_threshold", "domain: d\ndescriptors:\n  - key: k\n    value: v\n    share_threshold: true\n",
			"f.yaml:5:5: share_threshold can only be used with wildcard values (containing '*'), but found key 'k_v'",
		},
		{
			"share_threshold of a bare key", "domain: d\ndescriptors:\n  - key: k\n    share_threshold: true\n",
			"f.yaml:4:5: share_threshold can only be used with wildcard values (containing '*'), but found key 'k'",
		},
		{"unknown key", "domain: d\nfoo: 1\n", "f.yaml:2:1: config error, unknown key 'foo'"},
		{
			"unknown key below", "domain: d\ndescriptors:\n  - key: k\n    ratelimit:\n      unit: day\n",
			"f.yaml:4:5: config error, unknown key 'ratelimit'",
		},
		{
			"unknown key in a scalar's place", "domain: d\ndescriptors:\n  - key: {a: b}\n",
			"f.yaml:3:11: config error, unknown key 'a'",
		},
		{"key that is a number", "domain: d\n12: 1\n", "f.yaml:2:1: config error, key is not of type string: 12"},
		{"key that is a truth value", "domain: d\ntrue: 1\n", "f.yaml:2:1: config error, key is not of type string: true"},
		{"key that is null", "domain: d\n~: 1\n", "f.yaml:2:1: config error, key is not of type string: <nil>"},
		{"key that is a list", "domain: d\n? [a, b]\n: 1\n", "f.yaml:2:3: config error, key is not of type string: [a b]"},
		{"key that is a map", "domain: d\n? {a: b, c: ~}\n: 1\n", "f.yaml:2:3: config error, key is not of type string: map[a:b c:<nil>]"},
		{
			"long unknown key", "domain: d\n" + strings.Repeat("k", 100) + ": 1\n",
			"f.yaml:2:1: config error, unknown key '" + strings.Repeat("k", 64) + "...'",
		},
		{
			"list of strings", "domain: d\ndescriptors:\n  - a\n  - b\n",
			"f.yaml:3:5: config error, yaml file contains list of type other than map: a\n" +
				"f.yaml:4:5: config error, yaml file contains list of type other than map: b",
		},
		{
			"list of null", "domain: d\ndescriptors:\n  -\n",
			"f.yaml:3:4: config error, yaml file contains list of type other than map: <nil>",
		},
		{
			"list of lists", "domain: d\ndescriptors: [[a, 1], {key: k}]\n",
			"f.yaml:2:15: config error, yaml file contains list of type other than map: [a 1]",
		},
		{
			"replaces of strings", "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, replaces: [n]}\n",
			"f.yaml:4:62: config error, yaml file contains list of type other than map: n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			problems := problemsOf(tc.text)
			if got := linesOf(problems, false); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			for _, p := range problems {
				if p.Code == "" || p.Hint == "" && !strings.HasPrefix(p.Message, "error loading") {
					t.Errorf("%+v has no code or no hint", p)
				}
			}
		})
	}
}

// manyKeys is k0: 1, k1: 1, and so on.
func manyKeys(n int) string {
	b := &strings.Builder{}
	for i := range n {
		fmt.Fprintf(b, "k%d: 1, ", i)
	}
	return b.String()
}

// TestEnvoyLoadErrors: texts of our own, behind the service's introduction.
func TestEnvoyLoadErrors(t *testing.T) {
	const k = "domain: d\ndescriptors:\n  - key: k\n"
	for _, tc := range []struct{ name, text, want string }{
		{"a list", "- a\n", "f.yaml:1:1: error loading config file: the top level is a list, not a map"},
		{"a text", "hello\n", "f.yaml:1:1: error loading config file: the top level is the text 'hello', not a map"},
		{"bad syntax", "domain: d\ndescriptors: [\n", "f.yaml:2:1: error loading config file: yaml: line 2: did not find expected node content"},
		{"a tab", "domain: d\ndescriptors:\n\t- key: k\n", "f.yaml:3:2: error loading config file: yaml: line 3: found character that cannot start any token"},
		{"not UTF-8", "domain: d\ndescriptors:\n  - key: a\xffb\n", "f.yaml:3:11: error loading config file: yaml: invalid leading UTF-8 octet"},
		{"control character", "domain: d\n# \x01\n", "f.yaml:2:3: error loading config file: yaml: control characters are not allowed"},
		{"key a map", "domain: d\ndescriptors:\n  - key: {name: b}\n", "f.yaml:3:5: descriptor has empty key\nf.yaml:3:10: error loading config file: key is a map, not a string"},
		{"unknown alias", "domain: d\ndescriptors: *x\n", "f.yaml:2:14: error loading config file: yaml: unknown anchor 'x' referenced"},
		{"the same key twice", "domain: d\ndomain: e\n", "f.yaml:2:1: error loading config file: mapping key \"domain\" already defined at line 1"},
		{
			"the same key twice, below", k + "    rate_limit:\n      unit: day\n      unit: hour\n      requests_per_unit: 1\n",
			"f.yaml:6:7: error loading config file: mapping key \"unit\" already defined at line 5",
		},
		{
			"the same key twice, of many", k + "    metadata: {" + manyKeys(50) + "k7: 1}\n",
			"f.yaml:4:406: error loading config file: mapping key \"k7\" already defined at line 4",
		},
		{"descriptors no list", "domain: d\ndescriptors: x\n", "f.yaml:2:14: error loading config file: descriptors is the text 'x', not a list"},
		{"descriptors a map", "domain: d\ndescriptors: {key: k}\n", "f.yaml:2:14: error loading config file: descriptors is a map, not a list"},
		{"rate_limit a number", k + "    rate_limit: 5\n", "f.yaml:4:17: error loading config file: rate_limit is the number 5, not a map"},
		{"rate_limit a list", k + "    rate_limit: [{unit: day}]\n", "f.yaml:4:17: error loading config file: rate_limit is a list, not a map"},
		{"count negative", k + "    rate_limit: {unit: day, requests_per_unit: -1}\n", "f.yaml:4:48: error loading config file: requests_per_unit is the number -1, not a whole number from 0 to 4294967295"},
		{"count a fraction", k + "    rate_limit: {unit: day, requests_per_unit: 1.5}\n", "f.yaml:4:48: error loading config file: requests_per_unit is the number 1.5, not a whole number from 0 to 4294967295"},
		{"count a truth value", k + "    rate_limit: {unit: day, requests_per_unit: true}\n", "f.yaml:4:48: error loading config file: requests_per_unit is the truth value true, not a whole number from 0 to 4294967295"},
		{"count quoted", k + "    rate_limit: {unit: day, requests_per_unit: '5'}\n", "f.yaml:4:48: error loading config file: requests_per_unit is the text '5', not a whole number from 0 to 4294967295"},
		{"count above uint32", k + "    rate_limit: {unit: day, requests_per_unit: 4294967296}\n", "f.yaml:4:48: error loading config file: requests_per_unit is the number 4294967296, not a whole number from 0 to 4294967295"},
		{"truth value", k + "    shadow_mode: maybe\n", "f.yaml:4:18: error loading config file: shadow_mode is the text 'maybe', not a truth value"},
		{"truth value quoted", k + "    shadow_mode: 'true'\n", "f.yaml:4:18: error loading config file: shadow_mode is the text 'true', not a truth value"},
		{"metadata", k + "    metadata: [1]\n", "f.yaml:4:15: error loading config file: metadata is a list, not a map"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := linesOf(problemsOf(tc.text), false); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestEnvoyExtensionErrors: what is wrong with words that are Weir's own.
func TestEnvoyExtensionErrors(t *testing.T) {
	for _, tc := range []struct{ name, node, want string }{
		{"multiplier 0", "rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: 0}", "3:68: invalid unit multiplier of 0"},
		{"multiplier too long", "rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: 366}", "3:68: invalid unit multiplier of 366"},
		{"multiplier a fraction", "rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: 0.5}", "3:68: error loading config file: unit_multiplier is the number 0.5, not a whole number from 0 to 4294967295"},
		{"burst a fraction", "rate_limit: {unit: day, requests_per_unit: 1, burst: 0.5}", "3:58: error loading config file: burst is the number 0.5, not a whole number from 0 to 4294967295"},
		{"multiplier of nothing", "rate_limit: {requests_per_unit: 1, unit_multiplier: 3}", "3:17: invalid rate limit unit ''"},
		{"too many", "rate_limit: {unit: day, requests_per_unit: 10000001}", "3:48: requests_per_unit 10000001 is above 10000000, the most that is counted"},
		{"algorithm", "rate_limit: {unit: day, requests_per_unit: 1, algorithm: magic}", "3:62: algorithm: unknown algorithm \"magic\""},
		{"concurrency", "rate_limit: {unit: day, requests_per_unit: 1, algorithm: concurrency}", "3:62: concurrency cannot be used in the Envoy format"},
		{"burst of a window", "rate_limit: {unit: day, requests_per_unit: 1, algorithm: fixed_window, burst: 2}", "3:83: burst: fixed_window has no burst"},
		{"burst too long to refill", "rate_limit: {unit: year, requests_per_unit: 1, burst: 3}", "3:59: burst: burst 3 takes more than two years to refill at 1 per 31536000 s"},
		{"log too long", "rate_limit: {unit: day, requests_per_unit: 1001, algorithm: sliding_log}", "3:48: count: 1001 is outside 1 to 1000 for sliding_log"},
		{"same window", "rate_limit: {unit: day, requests_per_unit: 1}, rate_limits: [{unit: hour, unit_multiplier: 24, requests_per_unit: 2}]", "3:66: two limits of one descriptor count per d in the same way"},
		{"same window by default", "rate_limits: [{unit: day, requests_per_unit: 1, algorithm: fixed_window}, {unit: day, requests_per_unit: 2}]", "3:79: two limits of one descriptor count per d in the same way"},
		{"same window, two names", "rate_limits: [{unit: day, requests_per_unit: 1, algorithm: gcra}, {unit: day, requests_per_unit: 2, algorithm: token_bucket}]", "3:71: two limits of one descriptor count per d in the same way"},
		{"five limits", "rate_limits: [{unit: day, requests_per_unit: 1}, {unit: hour, requests_per_unit: 1}, {unit: minute, requests_per_unit: 1}, {unit: second, requests_per_unit: 1}, {unit: week, requests_per_unit: 1}]", "3:5: 5 limits on one descriptor"},
		{"unlimited and more", "rate_limit: {unlimited: true}, rate_limits: [{unit: day, requests_per_unit: 1}]", "3:36: should not specify rate_limits when unlimited"},
		{"several in quota_mode", "quota_mode: true, rate_limits: [{unit: day, requests_per_unit: 1}, {unit: hour, requests_per_unit: 1}]", "3:23: quota_mode takes one limit"},
		{"name of one of several", "rate_limits: [{unit: day, requests_per_unit: 1, name: n}]", "3:53: config error, unknown key 'name'"},
		{"burst of a descriptor", "burst: 3", "3:5: config error, unknown key 'burst'"},
		{"rate_limits no list", "rate_limits: {unit: day}", "3:18: error loading config file: rate_limits is a map, not a list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "domain: d\ndescriptors: [{key: k,\n    " + tc.node + "}]\n"
			if got := linesOf(problemsOf(text), false); got != "f.yaml:"+tc.want {
				t.Errorf("got\n%s\nwant\nf.yaml:%s", got, tc.want)
			}
		})
	}
}

// TestEnvoyWarnings: what loads all the same, and is probably not meant.
func TestEnvoyWarnings(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a word in the wrong map", "domain: d\nunit: day\n", "f.yaml:2:1: key 'unit' has no meaning here and is ignored"},
		{
			"a flag inside the limit", "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, shadow_mode: true}\n",
			"f.yaml:4:51: key 'shadow_mode' has no meaning here and is ignored",
		},
		{"two documents", "domain: d\n---\ndomain: e\n", "f.yaml:3:1: only the first YAML document of a file is read"},
		{"two documents, the second bad", "domain: d\n---\n[\n", "f.yaml: only the first YAML document of a file is read"},
		{"an empty second document", "domain: d\n---\n", ""},
		{
			"a zero", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 0}}]\n",
			"f.yaml:2:67: requests_per_unit 0 denies every request",
		},
		{
			"unlimited with a count", "domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true, requests_per_unit: 1}}]\n",
			"f.yaml:2:54: requests_per_unit has no meaning beside unlimited",
		},
		{"a star in a key", "domain: d\ndescriptors: [{key: k*, share_threshold: true}]\n", "f.yaml:2:15: the '*' in key 'k*' is not a wildcard"},
		{
			"hidden by a wildcard", "domain: d\ndescriptors:\n- {key: k, value: a*}\n- {key: k, value: a*c}\n- {key: k, value: ab}\n- {key: k}\n",
			"f.yaml:4:3: descriptor 'k_a*c' is never reached: 'k_a*' takes all that it matches",
		},
		{
			"hidden by a star", "domain: d\ndescriptors:\n- {key: k}\n- {key: k, value: '*'}\n- {key: j}\n",
			"f.yaml:3:3: descriptor 'k' is never reached: 'k_*' takes all that it matches",
		},
		{
			"replaces nobody", "domain: d\ndescriptors:\n- {key: k, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: nobody}]}}\n",
			"f.yaml:3:3: no limit of the domain has the name 'nobody'",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			problems := problemsOf(tc.text)
			if got := linesOf(problems, true); got != tc.want || HasErrors(problems) {
				t.Errorf("got\n%v\nwant the warning\n%s", problems, tc.want)
			}
		})
	}
}

// TestEnvoyHints: the hint says what to do.
func TestEnvoyHints(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"misspelt key", "domain: d\ndescriptor: []\n", "did you mean 'descriptors'?"},
		{"misspelt key with dashes", "domain: d\ndescriptors: [{key: k, rate-limit: {}}]\n", "did you mean 'rate_limit'?"},
		{"misspelt unit", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: minutes, requests_per_unit: 1}}]\n", "did you mean minute?"},
		{"no unit", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: fortnight, requests_per_unit: 1}}]\n", "one of second, minute, hour, day, week, month, year"},
		{"too many a day", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 48000000}}]\n", "the same rate is 2000000 per hour; or write unlimited: true"},
		{"too many a second", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: second, requests_per_unit: 4294967295}}]\n", "write unlimited: true if it is not meant to limit"},
		{"the first of two", "domain: d\ndescriptors:\n- {key: k}\n- {key: k}\n", "the first is at f.yaml:3:3"},
		{"a value like an alias", "domain: d\ndescriptors: [{key: k, value: *}]\n", "quote a value that starts with '*' or '&'"},
		{"a tab", "domain: d\ndescriptors:\n\t- key: k\n", "indent with spaces: YAML takes no tabs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if ps := problemsOf(tc.text); len(ps) == 0 || ps[0].Hint != tc.want {
				t.Errorf("%+v, want the hint %q", ps, tc.want)
			}
		})
	}
}
