package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// schemaFile is the copy that editors are pointed at.
const schemaFile = "../docs/policies.schema.json"

func TestSchemaIsGolden(t *testing.T) {
	got := Schema()
	if *updateNative {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil || string(got) != string(want) {
		t.Errorf("the schema is not %s: look at the difference, then run with -update-native (%v)", schemaFile, err)
	}
}

// loadYAML reads a file the way an editor hands it to a schema.
func loadYAML(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func schemaMap(t *testing.T) map[string]any {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaTakesWhatTheParserTakes(t *testing.T) {
	s := schemaMap(t)
	paths, err := filepath.Glob(examples + "/*.yaml")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	texts := [][]byte{[]byte(resolveText)}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, data)
	}
	for _, text := range texts {
		parseNative(t, string(text))
		if err := valid(s, loadYAML(t, text)); err != nil {
			t.Errorf("the schema refuses\n%s\n%v", text, err)
		}
	}
}

// TestSchemaRefuses holds the schema to the bad files whose fault a schema can
// see.
func TestSchemaRefuses(t *testing.T) {
	s := schemaMap(t)
	for _, name := range []string{
		"unknown-key", "unknown-top-key", "unknown-limit-key", "unknown-route-key", "no-id", "bad-id", "empty-limits",
		"zero-count", "no-window", "bad-algorithm", "concurrency-too-large", "concurrency-word", "concurrency-no-max",
		"bad-dimension", "empty-by", "by-mapping", "empty-match", "match-list", "route-no-path", "cost-negative", "cost-word",
		"cost-list", "bad-mode", "bad-on-failure", "deadline-no-unit", "empty-domain", "domain-list", "empty-policies",
		"no-policies", "policies-mapping", "policy-text", "top-level-list", "tenants-list", "too-many-limits", "zero-burst",
	} {
		data, err := os.ReadFile("testdata/native/bad/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(s, loadYAML(t, data)); err == nil {
			t.Errorf("the schema takes %s", name)
		}
	}
}

// TestSchemaKeysAreTheParsers reads each object of the schema and tries its
// keys, and one more, on the parser.
func TestSchemaKeysAreTheParsers(t *testing.T) {
	root := schemaMap(t)
	policy := dig(t, root, "properties", "policies", "items")
	for name, tc := range map[string]struct {
		object map[string]any
		text   string // %s is where a key goes
	}{
		"file":        {root, "%s: x"},
		"policy":      {policy, "policies: [{%s: x}]"},
		"limit":       {object(t, dig(t, policy, "properties", "limits")), "policies: [{id: a, limits: {%s: x}}]"},
		"concurrency": {object(t, dig(t, policy, "properties", "concurrency")), "policies: [{id: a, concurrency: {%s: x}}]"},
		"route":       {object(t, object(t, dig(t, policy, "properties", "match", "properties", "route"))), "policies: [{id: a, match: {route: {%s: x}}}]"},
	} {
		keys := slices.Sorted(maps.Keys(dig(t, tc.object, "properties")))
		if len(keys) < 2 || tc.object["additionalProperties"] != false {
			t.Errorf("%s: %v", name, keys)
		}
		for _, key := range append(keys, "nonsense") {
			_, problems := ParseNative("f", fmt.Appendf(nil, tc.text, key))
			unknown := slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "unknown-key" })
			if unknown != (key == "nonsense") {
				t.Errorf("%s: %s: %v", name, key, problems)
			}
			if key != "nonsense" {
				continue
			}
			for _, known := range keys {
				if !strings.Contains(problems[0].Hint, known) {
					t.Errorf("%s: the hint %q does not name %s", name, problems[0].Hint, known)
				}
			}
		}
	}
}

func dig(t *testing.T, m map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, key := range path {
		next, ok := m[key].(map[string]any)
		if !ok {
			t.Fatalf("the schema has no %v", path)
		}
		m = next
	}
	return m
}

// object picks the alternative of anyOf that has properties, or has one within.
func object(t *testing.T, m map[string]any) map[string]any {
	t.Helper()
	list, _ := m["anyOf"].([]any)
	for _, e := range list {
		if s := e.(map[string]any); s["properties"] != nil {
			return s
		}
	}
	for _, e := range list {
		if s := e.(map[string]any); s["anyOf"] != nil {
			return s
		}
	}
	t.Fatalf("no object among %v", m)
	return nil
}
