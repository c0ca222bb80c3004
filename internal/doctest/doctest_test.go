package doctest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	blocks, err := Parse("# Page\n\n```sh\nx=1\necho $x\n```\n\n```console\n1\n```\n\n```yaml\na: b\n```\n\n" +
		"<!-- not run: needs a moon -->\n```sh\nfly\n```\n\nText.\n\n```sh\necho 2\n```\n")
	want := []Block{
		{Line: 4, Script: "x=1\necho $x\n", Want: []string{"1"}},
		{Line: 18, Script: "fly\n", Skipped: "needs a moon"},
		{Line: 24, Script: "echo 2\n"},
	}
	if err != nil || !slices.EqualFunc(blocks, want, func(a, b Block) bool {
		return a.Line == b.Line && a.Script == b.Script && a.Skipped == b.Skipped && slices.Equal(a.Want, b.Want)
	}) {
		t.Errorf("%+v, %v", blocks, err)
	}
	for _, page := range []string{"```sh\nnever ends\n", "```console\nof nothing\n```\n", "```sh\n:\n```\n```console\na\n```\n```console\nb\n```\n"} {
		if blocks, err := Parse(page); err == nil {
			t.Errorf("%q: %+v", page, blocks)
		}
	}
}

func TestMissing(t *testing.T) {
	const printed = "HTTP/1.1 200 OK\r\nDate: today\r\nRateLimit: \"a\";r=2;t=37\r\n\r\nhello\n"
	for _, c := range []struct{ want, miss string }{
		{"HTTP/1.1 200 OK\nhello", ""},
		{"HTTP/1.1 200 OK\n...\nRateLimit: \"a\";r=2;t=...\n\nhello", ""},
		{"HTTP/1.1 429 Too Many Requests", "HTTP/1.1 429 Too Many Requests"},
		{"hello\nHTTP/1.1 200 OK", "HTTP/1.1 200 OK"},
		{"HTTP/1.1 200 OK\nHTTP/1.1 200 OK", "HTTP/1.1 200 OK"},
		{"HTTP/1.1 200", "HTTP/1.1 200"},
		{"Rate.imit: ...", "Rate.imit: ..."},
		{"...;r=...;t=37", ""},
		{"...;r=...;t=3", "...;r=...;t=3"},
		{"HTTP...HTTP...", "HTTP...HTTP..."},
	} {
		if got, ok := missing(strings.Split(c.want, "\n"), printed); got != c.miss || ok != (c.miss == "") {
			t.Errorf("%q: %q is missing, want %q", c.want, got, c.miss)
		}
	}
}

func TestRewrite(t *testing.T) {
	p := ports{"8080": "1", "8000": "2", "9000": "3"}
	got := p.rewrite("http://127.0.0.1:8080/x localhost:8000 --bind 127.0.0.1 9000; 8080/h 127.0.0.1:80801 abns@weir")
	if want := "http://127.0.0.1:1/x localhost:2 --bind 127.0.0.1 3; 8080/h 127.0.0.1:80801 abns@weir-2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRunNotices runs pages that are wrong: a runner that lets one of them pass
// tests nothing.
func TestRunNotices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		bad  bool
	}{
		"good":           {"```sh\nx=1\n```\n```sh\necho $x >&2\n```\n```console\n1\n```\n", false},
		"wrong output":   {"```sh\necho 1\n```\n```console\n2\n```\n", true},
		"failure":        {"```sh\nfalse\n```\n", true},
		"unset variable": {"```sh\necho $nothing\n```\n", true},
		"left running":   {"```sh\nsleep 600 &\n```\n", true},
	} {
		dir := t.TempDir()
		blocks, err := Parse(c.page)
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(dir, "weir")
		if err := os.Mkdir(work, 0o755); err != nil {
			t.Fatal(err)
		}
		printed, err := run(t, work, blocks, []string{"PATH=" + os.Getenv("PATH")})
		bad := err != nil
		for i, got := range printed {
			if _, ok := missing(blocks[i].Want, got); !ok {
				bad = true
			}
		}
		if bad != c.bad {
			t.Errorf("%s: %q, %v", name, printed, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# Page\n\n```sh\necho 1\n```\n\n```console\n1\n...\n```\n")
	f.Fuzz(func(t *testing.T, page string) {
		blocks, err := Parse(page)
		if err != nil {
			return
		}
		for _, b := range blocks {
			if !strings.Contains(page+"\n", b.Script) || b.Line < 2 {
				t.Errorf("%+v is not in the page", b)
			}
			if line, ok := missing(b.Want, strings.Join(b.Want, "\n")); !ok {
				t.Errorf("%q is missing in itself", line)
			}
		}
	})
}
