package policyfile

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Format
		problem    string // code, at line:column
	}{
		{"native", "policies:\n- id: a\n", Native, ""},
		{"native with a domain first", "domain: x\npolicies:\n  - id: a\n", Native, ""},
		{"native, tenants only", "tenants:\n  acme: pro\n", Native, ""},
		{"envoy", "domain: x\ndescriptors:\n  - key: a\n", Envoy, ""},
		{"envoy, the other way round", "descriptors:\n- key: policies\n  policies: 1\ndomain: x\n", Envoy, ""},
		{"envoy, a domain only", "domain: x\n", Envoy, ""},
		{"envoy, no descriptors", "---\n# hello\ndomain: x\ndescriptors:\n", Envoy, ""},
		{"quoted keys", "\"domain\": x\n'descriptors' : []\n", Envoy, ""},
		{"json", `{"domain": "x", "descriptors": [{"key": "policies"}]}`, Envoy, ""},
		{"json, native", "{\n  \"policies\": [\n {\"id\": \"a\"}]\n}", Native, ""},
		{"flow", "{domain: x, descriptors: []}", Envoy, ""},
		{"flow after a mark", "--- {domain: x, tenants: {a: b}}", Native, ""},
		{"byte order mark", "\ufeffdomain: x\n", Envoy, ""},
		{"windows", "domain: x\r\ndescriptors:\r\n- key: a\r\n", Envoy, ""},
		{"a directive", "%YAML 1.1\n---\ndomain: x\n", Envoy, ""},
		{"a second document", "domain: x\n---\npolicies: []\n", Envoy, ""},
		{"a block of text", "note: |\n  policies:\n  descriptors:\ndomain: x\n", Envoy, ""},
		{"a text in quotes", "{\"note\": \"policies: {\", domain: x}", Envoy, ""},
		{"bad yaml has a format all the same", "domain: [\n", Envoy, ""},

		{"both", "domain: x\ndescriptors: []\npolicies: []\n", Unknown, "mixed-formats 3:1"},
		{"both, the other way round", "policies: []\ndescriptors: []\n", Unknown, "mixed-formats 2:1"},
		{"both in json", "{\"descriptors\": [],\n  \"policies\": []}", Unknown, "mixed-formats 2:3"},
		{"neither", "# a\n\npolices:\n  - id: a\n", Unknown, "unknown-format 3:1"},
		{"empty", "", Unknown, "empty-file 1:1"},
		{"blank", " \n\n\t", Unknown, "empty-file 1:1"},
		{"a comment", "# nothing yet\n", Unknown, "unknown-format 1:1"},
		{"a list", "- domain: x\n", Unknown, "unknown-format 1:1"},
		{"a text", "hello\n", Unknown, "unknown-format 1:1"},
		{"not text", "\x00\x01\xff\xfe", Unknown, "bad-text 1:1"},
		{"UTF-16 of Windows", "\xff\xfed\x00o\x00m\x00a\x00i\x00n\x00:\x00 \x00x\x00\n\x00", Unknown, "bad-text 1:1"},
		{"UTF-16 without a mark", "\x00d\x00o\x00m\x00a\x00i\x00n\x00:\x00 \x00x\x00\n", Unknown, "bad-text 1:1"},
		{"an old code page", "pol\xedticas: x\n", Unknown, "bad-text 1:1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, p := Detect("f.yaml", []byte(tc.text))
			said := ""
			if p != nil {
				said = fmt.Sprintf("%s %d:%d", p.Code, p.At.Line, p.At.Column)
				if p.At.File != "f.yaml" || p.Message == "" || p.Hint == "" || p.Warning {
					t.Errorf("problem is %+v", p)
				}
			}
			if got != tc.want || said != tc.problem {
				t.Errorf("got %d %q, want %d %q", got, said, tc.want, tc.problem)
			}
			if (got == Unknown) != (p != nil) {
				t.Errorf("format %d with problem %v", got, p)
			}
		})
	}
}

// TestTopKeysAgreesWithYAML: the short way and a whole parse find the same keys,
// at the same places.
func TestTopKeysAgreesWithYAML(t *testing.T) {
	for _, text := range []string{
		"domain: x\ndescriptors:\n  - key: a\n    rate_limit: {unit: second, requests_per_unit: 1}\n",
		"policies:\n- id: a\n  match: {route: \"GET /x:y\"}\n  by: [tenant]\ntenants: {a: b}\n",
		"{domain: x, descriptors: [{key: a, value: \"b, c: d\"}, {key: 'it''s'}], other: 1}",
		"{\n \"policies\" : [ {\"id\": \"a\\\"b\"} ], # comment: {\n \"tenants\":{}}",
		"a: >\n  b: c\n  d: e\n\nf: |2\n    g: h\ni : j\n\"k\": 'l: m'\n",
		"a: {b: c,\n  d: e}\nf: [g,\n  h: i]\n",
		"a: b c:d\nurl: http://x/y\n# no: key\n",
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want []string
		for i := 0; i < len(doc.Content[0].Content); i += 2 {
			k := doc.Content[0].Content[i]
			want = append(want, fmt.Sprintf("%s at %d:%d", k.Value, k.Line, k.Column))
		}
		var got []string
		for _, k := range topKeys([]byte(text)) {
			got = append(got, fmt.Sprintf("%s at %d:%d", k.name, k.line, k.column))
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%q:\n got %v\nwant %v", text, got, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"domain: x\ndescriptors: []", "{policies: [], \"a\": 'b'}", "--- {", "%\n...", "\"", "{'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format, p := Detect("f", data)
		if (format == Unknown) != (p != nil) {
			t.Errorf("format %d with problem %v", format, p)
		}
	})
}
