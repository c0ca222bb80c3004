package archtest

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestLoad reads a module that hides what the rules look for in every way the
// language has.
func TestLoad(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod": "module " + Module,
		"doc.go": "// Package weir is one line.\npackage weir",

		"alias/alias.go": `package alias
			import env "os"
			var get = env.Getenv // a value, not a call`,
		"dot/dot.go": `package dot
			import . "os"
			var home = Getenv("HOME")`,
		"tagged/tagged_windows.go": "//go:build windows && never\n\npackage tagged\nimport \"unsafe\"",
		"documented/doc.go":        "// Package documented is\n//\n// three lines\n// long.\npackage documented",

		// Not read, though the first is a package that needs a doc.go.
		"tests/only_test.go":    `package tests; import "os"`,
		"alias/gen.go":          "//go:build ignore\n\npackage main\nimport \"net\"",
		"alias/_draft.go":       `package draft; import "net"`,
		"testdata/x.go":         `package x; import "net"`,
		".hidden/x.go":          `package x; import "net"`,
		"web/node_modules/x.go": `package x; import "net"`,
		"bench/go.mod":          "module " + Module + "/bench",
		"bench/x.go":            `package main; import "net"`,
	})
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Package{
		{Path: ".", DocLines: 1},
		{Path: "alias", Imports: []string{"os"}, Uses: []string{"os.Getenv"}, DocLines: -1},
		{Path: "documented", DocLines: 3},
		{Path: "dot", Imports: []string{"os"}, Uses: []string{"os.*"}, DocLines: -1},
		{Path: "tagged", Imports: []string{"unsafe"}, DocLines: -1},
		{Path: "tests", DocLines: -1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Load:\n got %+v\nwant %+v", got, want)
	}
}

func TestLoadRefusesBrokenSource(t *testing.T) {
	dir := write(t, map[string]string{"x.go": "package x; import"})
	if pkgs, err := Load(dir); err == nil {
		t.Errorf("Load of a file that does not parse = %+v, want an error", pkgs)
	}
}

func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
