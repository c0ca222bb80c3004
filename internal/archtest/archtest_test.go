package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestRules holds every package of the module to every rule.
func TestRules(t *testing.T) {
	pkgs, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Check(Rules, pkgs) {
		t.Error(v)
	}
}

// TestLoadSeesWhatGoSees keeps TestRules from passing on packages it never read.
func TestLoadSeesWhatGoSees(t *testing.T) {
	pkgs, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-e", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	listed := strings.Fields(string(out))
	if !slices.Contains(listed, Module+"/internal/archtest") {
		t.Fatalf("go list does not know this package: %v", listed)
	}
	for _, imp := range listed {
		rel, ok := ours(imp)
		if !ok {
			t.Errorf("go list names %s, which is not of module %s", imp, Module)
		}
		if !slices.ContainsFunc(pkgs, func(p Package) bool { return p.Path == rel }) {
			t.Errorf("go list names %s, which Load did not find", imp)
		}
	}
}
