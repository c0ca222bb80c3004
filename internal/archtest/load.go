package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Package is what the rules know of one package, from all its files but tests,
// whatever their build tags.
type Package struct {
	// Path is relative to the module, "." for its root.
	Path string
	// Imports are full import paths.
	Imports []string
	// Uses are the names of other packages in the source, by import path:
	// "os.Getenv", and "os.*" when the names cannot be told (a dot import).
	Uses []string
	// DocLines counts the lines of text in the package comment of doc.go,
	// -1 when there is no such file.
	DocLines int
}

// Load reads the packages of the module rooted at dir, sorted by path. Modules
// nested in it, testdata and what the go command would ignore are left out.
func Load(dir string) ([]Package, error) {
	found := map[string]*Package{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != dir && ignored(file, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(file) != ".go" || hidden(d.Name()) {
			return nil
		}
		rel, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if found[rel] == nil {
			found[rel] = &Package{Path: rel, DocLines: -1}
		}
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		return found[rel].add(file)
	})
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	return sorted(found), nil
}

func ignored(dir, name string) bool {
	if name == "testdata" || name == "vendor" || name == "node_modules" || hidden(name) {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func sorted(found map[string]*Package) []Package {
	pkgs := make([]Package, 0, len(found))
	for _, p := range found {
		slices.Sort(p.Imports)
		p.Imports = slices.Compact(p.Imports)
		slices.Sort(p.Uses)
		p.Uses = slices.Compact(p.Uses)
		pkgs = append(pkgs, *p)
	}
	slices.SortFunc(pkgs, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return pkgs
}

func (p *Package) add(file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if neverBuilt(f) {
		return nil
	}
	if filepath.Base(file) == "doc.go" {
		p.DocLines = textLines(f.Doc.Text())
	}
	names := map[string]string{} // as the file calls them, to import path
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		p.Imports = append(p.Imports, imported)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			p.Uses = append(p.Uses, imported+".*")
		}
		names[name] = imported
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] != "" {
			p.Uses = append(p.Uses, names[x.Name]+"."+sel.Sel.Name)
		}
		return true
	})
	return nil
}

// neverBuilt reports the convention for a program kept beside the package whose
// files it generates.
func neverBuilt(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && c.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

func textLines(s string) int {
	n := 0
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}
