package policyfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirlimit/weir"
)

func TestLoadFindsFiles(t *testing.T) {
	b := newBench(t)
	b.write("p/b.yaml", "domain b")
	b.write("p/a.yml", "domain a")
	b.write("p/deep/er/c.json", "domain c")
	b.write("p/notes.txt", "bad")
	b.write("p/.hidden.yaml", "bad")
	b.write("p/.git/x.yaml", "bad")
	b.write("p/b.yaml~", "bad")
	b.write("p/4913", "bad")
	b.write("elsewhere/l.txt", "domain linked")
	b.write("elsewhere/dir/m.yaml", "domain m")
	b.link("../elsewhere/l.txt", "p/link.yaml")
	b.link(b.path("elsewhere/dir"), "p/linkdir")
	r := b.load("a.yml=a b.yaml=b c.json=c link.yaml=linked m.yaml=m")
	if !r.OK() || len(r.All()) != 0 {
		t.Errorf("problems:\n%s", problems(&r))
	}
}

func TestLoadOrderOfPaths(t *testing.T) {
	b := newBench(t, func(o *Options) {
		dir := filepath.Dir(o.Paths[0])
		o.Paths = []string{filepath.Join(dir, "z.conf"), filepath.Join(dir, "p"), filepath.Join(dir, "p", "a.yaml"), filepath.Join(dir, "p/")}
	})
	b.write("z.conf", "domain z")
	b.write("p/b.yaml", "domain b")
	b.write("p/a.yaml", "domain a")
	r := b.load("z.conf=z a.yaml=a b.yaml=b")
	if !r.OK() {
		t.Errorf("a file that several paths lead to is a problem:\n%s", problems(&r))
	}
}

func TestLoadNamesFilesAsGiven(t *testing.T) {
	b := newBench(t)
	t.Chdir(b.dir)
	b.opts.Paths = []string{"./p"}
	b.restart()
	b.write("p/sub/a.yaml", "domain a", "bad")
	b.write("p/b.yaml", "domain b")
	r := b.load("b.yaml=b")
	if got, want := r.All()[0].String(), filepath.Join("p", "sub", "a.yaml")+":2:1: bad is not allowed (remove it)"; got != want {
		t.Errorf("problem is %q, want %q", got, want)
	}
}

func TestLoadDotFiles(t *testing.T) {
	b := newBench(t, func(o *Options) { o.DotFiles = true })
	b.write("p/.a.yaml", "domain a")
	b.write("p/.d/b.yaml", "domain b")
	b.write("p/..2026/c.yaml", "bad")
	b.load(".a.yaml=a b.yaml=b")
}

func TestLoadHiddenPathThatIsNamed(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Paths[0] = filepath.Join(filepath.Dir(o.Paths[0]), ".weir") })
	b.write(".weir/a.yaml", "domain a")
	b.load("a.yaml=a")
}

func TestLoadCompatReadsEveryName(t *testing.T) {
	b := newBench(t, compat)
	b.write("p/config", "domain a")
	b.write("p/.dot", "bad")
	b.load("config=a")
}

// TestLoadTroubles has what cannot be read, each next to a file that can.
func TestLoadTroubles(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(b *bench)
		want string // code
	}{
		{"a directory in place of a file", func(b *bench) { b.mkdir("p/x.yaml") }, "is-directory"},
		{"a link to nowhere", func(b *bench) { b.link("nowhere", "p/x.yaml") }, "not-found"},
		{"a link to itself", func(b *bench) { b.link("x.yaml", "p/x.yaml") }, "unreadable"},
		{"a loop of directories", func(b *bench) { b.link("..", "p/x") }, "link-loop"},
		{"a pipe", func(b *bench) { b.must(syscall.Mkfifo(b.path("p/x.yaml"), 0o644)) }, "not-a-file"},
		{"a large file", func(b *bench) {
			b.write("p/x.yaml", "domain x")
			b.must(os.Truncate(b.path("p/x.yaml"), MaxFileBytes+1))
		}, "too-large"},
		{"an endless tree", func(b *bench) { b.mkdir("p/" + strings.Repeat("x/", maxDepth)) }, "too-deep"},
		{"a parser that panics", func(b *bench) { b.write("p/x.yaml", "panic") }, "internal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.write("p/a.yaml", "domain a")
			tc.make(b)
			r := b.load("a.yaml=a")
			if all := r.All(); len(all) != 1 || all[0].Code != tc.want || r.OK() {
				t.Errorf("problems:\n%s\nwant one with %s", problems(&r), tc.want)
			}
		})
	}
}

func TestLoadTotalSize(t *testing.T) {
	b := newBench(t)
	b.l.bounds.total = 30
	b.write("p/a.yaml", "domain a") // 9 bytes
	b.write("p/b.yaml", "domain b")
	b.write("p/c.yaml", "domain c", "and more")
	r := b.load("a.yaml=a b.yaml=b")
	b.expect("problems", problems(&r), "c.yaml:0:0 too-large")
	b.write("p/c.yaml", "domain c")
	b.load("a.yaml=a b.yaml=b c.yaml=c")
}

// TestLoadTooMany: a path that is not a directory of policies gives none.
func TestLoadTooMany(t *testing.T) {
	for _, name := range []string{"p/%02d.yaml", "p/%02d.txt", "p/sub%02d/x.yaml"} {
		b := newBench(t, func(o *Options) { o.Paths = append(o.Paths, filepath.Join(filepath.Dir(o.Paths[0]), "q.yaml")) })
		b.l.bounds.files, b.l.bounds.entries = 10, 20
		for i := range 21 {
			b.write(fmt.Sprintf(name, i), fmt.Sprintf("domain %02d", i))
		}
		b.write("q.yaml", "domain q")
		r := b.load("q.yaml=q")
		b.expect("problems", problems(&r), "p:0:0 too-many-files")
		if n, _ := b.lang.counts(); n != 1 {
			t.Errorf("%d files were parsed, want 1", n)
		}
		if n := len(b.l.view.places); n > 2 {
			t.Errorf("%d directories are to be watched", n)
		}
	}
}

func TestLoadNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(b *bench)
		want string
	}{
		{"no path", func(b *bench) { b.remove("p") }, "p: there is no such file or directory (create it"},
		{"all bad", func(b *bench) { b.write("p/a.yaml", "domain a", "", "bad") }, "a.yaml:3:1: bad is not allowed (remove it)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			tc.make(b)
			set, report, err := b.l.Load(t.Context())
			if set != nil || err == nil || weir.CodeOf(err) != weir.CodeInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("set %v, error %v; want the latter to have %q", set, err, tc.want)
			}
			if report.OK() {
				t.Error("the report is fine with it")
			}
		})
	}
}

// TestLoadEmptyDirectory is not an error: there may be policies later.
func TestLoadEmptyDirectory(t *testing.T) {
	b := newBench(t)
	r := b.load("")
	b.expect("problems", problems(&r), "p:0:0 no-files (warning)")
	if !r.OK() {
		t.Error("a warning is not OK")
	}
}

func TestLoadCanceled(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	b.load("a.yaml=a")
}

func TestNewWithoutPaths(t *testing.T) {
	if _, err := New(Options{Paths: []string{"a.yaml", ""}}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("an empty path: %v", err)
	}
	if _, err := New(Options{}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("error %v", err)
	}
}
