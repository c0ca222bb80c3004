package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// TestDocumentedPolicies parses, compiles and lints every example of the
// documentation: what is there to be copied works.
func TestDocumentedPolicies(t *testing.T) {
	data, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(data), -1)
	if len(blocks) < 8 {
		t.Fatalf("%d examples", len(blocks))
	}
	formats := map[string]int{}
	for _, block := range blocks {
		file := &File{Name: "policies.md"}
		var problems []Problem
		if strings.Contains(block[1], "descriptors:") {
			formats["envoy"]++
			file.Envoy, problems = ParseEnvoy(file.Name, []byte(block[1]))
		} else {
			formats["native"]++
			file.Native, problems = ParseNative(file.Name, []byte(block[1]))
		}
		if len(problems) == 0 {
			_, problems = Compile([]*File{file}, Options{})
			problems = append(problems, Lint([]*File{file})...)
		}
		if len(problems) > 0 {
			t.Errorf("%s\n%v", block[1], problems)
		}
	}
	if formats["envoy"] < 3 || formats["native"] < 5 {
		t.Errorf("examples %v", formats)
	}
}

// TestDocumentedKeysAndCodes keeps the tables of the documentation whole.
func TestDocumentedKeysAndCodes(t *testing.T) {
	data, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	words := keysOf(policyFields)
	words = append(words, "cost-above-capacity", "never-binds", "unreachable", "no-fail-mode", "unreleased", "unknown-plan",
		"unbounded-key", "likely-typo", "not-leased", "too-many-limits", "fairness-as-503", "shed-closed")
	for _, word := range words {
		if !strings.Contains(string(data), "\n| `"+word+"` |") {
			t.Errorf("%s is not in a table", word)
		}
	}
}
