package forwardauth

import (
	"strings"
	"testing"
)

func TestNormalPath(t *testing.T) {
	for in, want := range map[string]string{
		"/": "/", "/a": "/a", "/a/": "/a/", "/a?b": "/a", "/a#b": "/a", "/?": "/", "*": "*",
		"//": "/", "//a//b": "/a/b", "/a/./b": "/a/b", "/a/../b": "/b", "/../../a": "/a", "/a/..": "/", "/a/b/..": "/a/", "/a/.": "/a/",
		"/%61": "/a", "/a%2fb": "/a/b", "/%2e%2e/a": "/a", "/%C3%A9": "/é", "/a%20b": "/a b", "/a%3Fb": "/a%3Fb", "/a%23": "/a%23",
		"/a%25b": "/a%25b", "/a%2541": "/a%2541", "/a%": "/a%25", "/a%4": "/a%254", "/a%zz": "/a%25zz", "/a%00": "/a%00", "/a\x01": "/a%01", "/a%0a": "/a%0A",
		"http://h/a?b": "/a", "HTTPS://h:1//a": "/a", "/.well-known/x": "/.well-known/x", "/a;v=1": "/a;v=1",
	} {
		if got, ok := normalPath(in); !ok || got != want {
			t.Errorf("%q becomes %q (%v), want %q", in, got, ok, want)
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
