package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirlimit/weir"
)

// FuzzParseEnvoy: whatever the bytes, parsing, compiling and resolving do not
// panic, and a file is refused with a place or gives a set that works.
func FuzzParseEnvoy(f *testing.F) {
	for _, pattern := range []string{"testdata/envoy/good/*.yaml", "testdata/envoy/bad/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: %v, %d files", pattern, err, len(names))
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, text := range []string{tree, measured, overridden, nested(5), laughs(3, false), laughs(3, true)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := ParseEnvoy("f", data)
		if (file == nil) != HasErrors(problems) {
			t.Fatalf("file %v with %v", file != nil, problems)
		}
		for _, p := range problems {
			if p.Message == "" || p.Code == "" || p.At.File != "f" {
				t.Fatalf("not a problem: %+v", p)
			}
		}
		if file == nil {
			return
		}
		s, problems := Compile([]*File{{Name: "f", Envoy: file}}, Options{})
		if HasErrors(problems) {
			t.Fatalf("parsed, but does not compile: %v", problems)
		}
		askAll(t, s, file.Domain, file.Descriptors, nil)
	})
}

// askAll sends what each descriptor should match and expects a valid entry.
func askAll(t *testing.T, s *Set, domain string, ds []EnvoyDescriptor, up []weir.Pair) {
	for i := range ds {
		d := &ds[i]
		at := append(up[:len(up):len(up)], weir.Pair{Name: d.Key, Value: d.Value})
		var p Plan
		if err := s.Resolve(&weir.Request{Domain: domain, Descriptors: []weir.Descriptor{{Pairs: at}}}, &p); err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		if d.Value != "" && len(d.Limits) > 0 && len(p.Charges) == 0 && !p.Descriptors[0].Rule.Denies {
			t.Fatalf("%v is not charged", at)
		}
		e := weir.Entry{Charges: p.Charges}
		if err := e.Validate(); err != nil && len(p.Charges) > 0 {
			t.Fatalf("%v: %v", at, err)
		}
		askAll(t, s, domain, d.Descriptors, at)
	}
}
