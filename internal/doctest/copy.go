package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clone copies the repository at root into dir, as a reader has it after make
// build. Files below examples/ are changed by edit.
func clone(t testing.TB, root, dir, binary string, edit func(string) string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, rel)
		switch {
		case rel == ".git" || rel == "bin":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(filepath.ToSlash(rel), "examples/") {
			data = []byte(edit(string(data)))
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm()|0o600)
	})
	if err != nil {
		t.Fatalf("doctest: copy the repository: %v", err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(bin, "weir")); err != nil {
		t.Fatal(err)
	}
}
