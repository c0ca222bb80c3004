package policy

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateNative = flag.Bool("update-native", false, "write what is found into testdata")

// TestBadNativeFiles parses files that are wrong in one way each. The comment
// in their first line says where, in what way, and what to do.
func TestBadNativeFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/native/bad/*.yaml")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, problems := ParseNative("f", data)
		if f != nil || len(problems) == 0 || !HasErrors(problems) {
			t.Errorf("%s was accepted", path)
			continue
		}
		var b strings.Builder
		for i, p := range problems {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%d:%d %s: %s", p.At.Line, p.At.Column, p.Code, p.Message)
			if p.Hint != "" {
				fmt.Fprintf(&b, " (%s)", p.Hint)
			}
			if p.At.File != "f" || p.At.Line < 1 || p.At.Column < 1 || p.Code == "" {
				t.Errorf("%s: problem %+v without a place or a code", path, p)
			}
		}
		first, rest, _ := bytes.Cut(data, []byte("\n"))
		if *updateNative {
			data = append([]byte("# "+b.String()+"\n"), rest...)
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want := strings.TrimPrefix(string(first), "# "); b.String() != want {
			t.Errorf("%s:\n got %s\nwant %s", path, b.String(), want)
		}
	}
}

// TestHugeNativeFiles are those too large to keep.
func TestHugeNativeFiles(t *testing.T) {
	good := "policies:\n- {id: a, limits: 5/s}\n"
	for name, tc := range map[string]struct{ text, want string }{
		"ten megabytes":      {good + "#" + strings.Repeat("x", 10_000_000), "more than 9999999"},
		"four million nodes": {"policies: [" + strings.Repeat("a,", 4_000_000) + "]", "too many values"},
		"deep list":          {"policies: " + strings.Repeat("[", 100_000), "depth"},
		"deep block":         {"policies:\n" + strings.Repeat("- ", 100_000) + "a", "depth"},
		"control character":  {good + "# a\x00b", "3:4 "},
		"not UTF-8":          {good + "# a\xffb", "3:4 "},
		"aliases of aliases": {
			"policies:\n- {id: a, limits: 5/s, match: {tenant: &t [" + strings.Repeat("x,", 9_999) + "x]}}\n" +
				strings.Repeat("- {id: b, limits: 5/s, match: {tenant: *t}}\n", 10_000), "too many values",
		},
		"many problems": {"policies:\n" + strings.Repeat("- {id: a, lmits: 5/s}\n", 10_000), "no key"},
	} {
		f, problems := ParseNative("f", []byte(tc.text))
		if f != nil || len(problems) == 0 || len(problems) > maxProblems {
			t.Errorf("%s: accepted, or %d problems", name, len(problems))
			continue
		}
		found := false
		for _, p := range problems {
			text := fmt.Sprintf("%d:%d %s", p.At.Line, p.At.Column, p.Message)
			found = found || strings.Contains(text, tc.want)
		}
		if !found {
			t.Errorf("%s: no problem with %q: %v", name, tc.want, problems[0])
		}
	}
}

// TestRoomForManyPolicies keeps the bounds above 100,000 policies that say all
// that a policy usually says.
func TestRoomForManyPolicies(t *testing.T) {
	policy := "- {id: t-%06d, match: {tenant: t%06d}, by: [tenant], limits: [9/s burst 20, 500/h]}\n"
	var b strings.Builder
	b.WriteString("policies:\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, policy, i, i)
	}
	r := &nativeReader{}
	if !r.plausible([]byte(b.String())) {
		t.Error(r.problems)
	}
	one := &nativeReader{}
	root := one.document(fmt.Appendf(nil, "policies:\n"+policy, 1, 1))
	if !readFields(one, root, "the file", fileFields, &NativeFile{}) || one.reads*100_000 > maxNativeReads {
		t.Errorf("a policy takes %d reads", one.reads)
	}
}
