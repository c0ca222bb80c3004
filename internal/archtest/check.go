package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path that every import of our own starts with.
const Module = "github.com/weirlimit/weir"

// Rule is one direction of the layout.
type Rule struct {
	Name string
	// Why the rule exists: who breaks it reads this first.
	Why string
	// Broken says what in the package breaks the rule, in words that follow
	// the package's name. It looks at one package at a time.
	Broken func(Package) []string
}

// Violation is one rule broken by one package.
type Violation struct {
	Rule    Rule
	Package string
	What    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s\n\trule %s: %s", v.Package, v.What, v.Rule.Name, v.Rule.Why)
}

// Check applies the rules to the packages.
func Check(rules []Rule, pkgs []Package) []Violation {
	var found []Violation
	for _, p := range pkgs {
		for _, r := range rules {
			for _, what := range r.Broken(p) {
				found = append(found, Violation{Rule: r, Package: p.Path, What: what})
			}
		}
	}
	return found
}

// importing describes the imports of p that are bad.
func (p Package) importing(bad func(string) bool) []string {
	var broken []string
	for _, imp := range p.Imports {
		if bad(imp) {
			broken = append(broken, fmt.Sprintf("imports %q", imp))
		}
	}
	return broken
}

// using describes which of the names p refers to.
func (p Package) using(names ...string) []string {
	var broken []string
	for _, use := range p.Uses {
		if slices.Contains(names, use) {
			broken = append(broken, "uses "+use)
		}
	}
	return broken
}

// set is a list of paths, each of which stands for those below it as well.
// "." is the root of the module alone.
type set []string

func (s set) has(path string) bool { return s.find(path) != "" }

// find returns the member that path is or lies below, "" if none.
func (s set) find(path string) string {
	for _, member := range s {
		if below(path, member) {
			return member
		}
	}
	return ""
}

func (s set) String() string { return strings.Join(s, ", ") }

func below(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

// ours returns the path of an import within the module.
func ours(imported string) (rel string, ok bool) {
	if imported == Module {
		return ".", true
	}
	return strings.CutPrefix(imported, Module+"/")
}

// isStdlib relies on the go command's own convention: the first element of any
// other path is a domain, and so has a dot.
func isStdlib(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// isTestSupport reports whether a package exists for tests alone: storetest and
// internal/*test.
func isTestSupport(rel string) bool {
	name, internal := strings.CutPrefix(rel, "internal/")
	name, _, _ = strings.Cut(name, "/")
	return name == "storetest" || internal && strings.HasSuffix(name, "test")
}
