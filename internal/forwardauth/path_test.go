package forwardauth

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestNormalPath(t *testing.T) {
	for in, want := range map[string]string{
		"/": "/", "/a": "/a", "/a/": "/a/", "/a?b": "/a", "/a#b": "/a", "/?": "/", "*": "*",
		"//": "/", "//a//b": "/a/b", "/a/./b": "/a/b", "/.": "/", "/./": "/", "/a/.": "/a/", "/a/%2e/": "/a/", "/...": "/...", "/a..": "/a..", "/..a": "/..a",
		"/%61": "/a", "/a%2fb": "/a/b", "/a%2f": "/a/", "/a\\b": "/a/b", "/a%5Cb": "/a/b", "/\\a": "/a", "/a%2F.%2Fb": "/a/b", "/%C3%A9": "/é", "/a%20b": "/a b", "/a%3Fb": "/a%3Fb", "/a%23": "/a%23",
		"/a%25b": "/a%25b", "/a%2541": "/a%2541", "/a%": "/a%25", "/a%4": "/a%254", "/a%zz": "/a%25zz", "/a%00": "/a%00", "/a\x01": "/a%01", "/a%0a": "/a%0A",
		"http://h/a?b": "/a", "HTTPS://h:1//a": "/a", "/.well-known/x": "/.well-known/x", "/a;v=1": "/a;v=1",
	} {
		if got, ok := normalPath(in); !ok || got != want {
			t.Errorf("%q becomes %q (%v), want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"/..", "/a/..", "/a/../b", "/../a", "/a/b/../../c", "/%2e%2e/a", "/a/.%2E", "//../a", "/a//../b", "/expensive/shoes%2F..%2F..%2Fcheap",
		"/a/..%2Fb", "/a%2f../b", "/a/x%2Fy/../b", "/a/..\\b", "/a\\../b", "/a/..%5cb", "/a/..;/b", "/a/..;x=1/b", "/a/.;/b", "/;x/b", "/a/%2e%2e%3b/b",
		"http://h/a/../b",
	} {
		if got, ok := normalPath(in); ok {
			t.Errorf("%q becomes %q, and servers make several paths of it", in, got)
		}
	}
	for _, in := range []string{"", "a", "?a", "http://h", "http://h?/a", "h:443", "%2Fa", "/" + strings.Repeat("a", maxPath)} {
		if got, ok := normalPath(in); ok {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// FuzzNormalPath: the form is one: to bring it there twice is to do so once.
func FuzzNormalPath(f *testing.F) {
	for _, s := range []string{"/", "/a/../b//c/.", "/%2e%2E%2f", "http://h/a", "/%%341", "/a%25%32%35"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, ok := normalPath(s)
		if !ok || once == "*" {
			return
		}
		if len(once) > 3*maxPath || once[0] != '/' || strings.ContainsAny(once, "?#") {
			t.Fatalf("%q becomes %q", s, once)
		}
		if len(once) > maxPath {
			return // escapes have made it longer
		}
		if twice, ok := normalPath(once); !ok || twice != once {
			t.Errorf("%q becomes %q, then %q", s, once, twice)
		}
		if strings.Contains(once, "//") || strings.Contains(once+"/", "/../") || strings.Contains(once+"/", "/./") {
			t.Errorf("%q becomes %q", s, once)
		}
	})
}

// FuzzPrefix: whichever way a server reads a path, it serves it under no prefix
// that the path does not have here. The readings share no code with normalPath.
func FuzzPrefix(f *testing.F) {
	for _, s := range []string{
		"/expensive/shoes%2F..%2F..%2Fcheap", "/a/x%2Fy/../b", "/a//../b", "/a/..\\b", "/a/%2e%2e/b", "/a/./b", "//a", "/a%5c..%5Cb", "/a/..;/b", "/.;/a", "/;/a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := normalPath(s)
		if !ok || s[0] != '/' {
			return
		}
		s, _, _ = strings.Cut(s, "?")
		s, _, _ = strings.Cut(s, "#")
		for reading := range 64 {
			segments, ok := read(s, reading)
			if !ok {
				return // no server takes such an escape
			}
			prefix := ""
			for _, segment := range segments {
				if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "/\\;%?#") || strings.ContainsFunc(segment, unicode.IsControl) {
					break // nobody writes a prefix with this
				}
				prefix += "/" + segment
			}
			if !strings.HasPrefix(got+"/", prefix+"/") {
				t.Errorf("%q becomes %q; a server of kind %06b serves it below %q", s, got, reading, prefix)
			}
		}
	})
}

// read splits a path as one of the many kinds of servers does.
func read(s string, kind int) ([]string, bool) {
	escapedSlash, backslash, merge, resolve, parameters, early := kind&1 > 0, kind&2 > 0, kind&4 > 0, kind&8 > 0, kind&16 > 0, kind&32 > 0
	if escapedSlash {
		s = strings.NewReplacer("%2f", "/", "%2F", "/").Replace(s)
	}
	if backslash {
		s = strings.NewReplacer("%5c", "/", "%5C", "/", "\\", "/").Replace(s)
	}
	var segments []string
	for _, segment := range strings.Split(s, "/")[1:] {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return nil, false
		}
		name, _, param := strings.Cut(plain, ";")
		if parameters && param && len(name) < 3 && strings.Trim(name, ".") == "" {
			plain = name // what ; does to other segments is documented
		}
		switch {
		case merge && early && plain == "":
		case resolve && plain == ".":
		case resolve && plain == "..":
			segments = segments[:max(0, len(segments)-1)]
		default:
			segments = append(segments, plain)
		}
	}
	if merge {
		segments = slices.DeleteFunc(segments, func(s string) bool { return s == "" })
	}
	return segments, true
}
