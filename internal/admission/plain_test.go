package admission

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzPlain: a path that is plain stays where it is, however often somebody
// resolves its escapes, takes backslashes for slashes, and cleans it.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "static/a", "static/../a", "a%2e", "a%252e%252e/b", `a\..\b`, "a//b", "a/.;x/b", "a/", "100%", "%2%65"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = "/" + text
		if !Plain(text) {
			return
		}
		read := text
		for range 3 {
			slashes := strings.Count(read, "/")
			if clean := path.Clean(strings.ReplaceAll(read, `\`, "/")); clean != read && clean+"/" != read {
				t.Fatalf("%q, read as %q, is %q", text, read, clean)
			}
			next, err := url.PathUnescape(read)
			if err != nil {
				return
			}
			if strings.Count(next, "/") != slashes {
				t.Fatalf("%q is %q", text, next)
			}
			read = next
		}
	})
}
