package httplimit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumented: docs/go.md names every option, function and field of httplimit
// and embedded.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	names := 0
	for _, pattern := range []string{"*.go", "../embedded/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range exported(file) {
				names++
				if !strings.Contains(text, n) {
					t.Errorf("%s is not on the page", n)
				}
			}
		}
	}
	if names < 30 {
		t.Errorf("only %d names were looked for", names)
	}
}

// exported returns the functions of a file, and the fields of a Transport.
func exported(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.Name == "Transport" {
					for _, f := range ts.Type.(*ast.StructType).Fields.List {
						for _, n := range f.Names {
							if n.IsExported() {
								names = append(names, n.Name)
							}
						}
					}
				}
			}
		}
	}
	return names
}
