package policyfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirlimit/weir/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// language is a stand-in for package policy, with the same contract and a
// grammar that is easy to get wrong on purpose. A file is lines of
//
//	domain X   what no two files may share
//	bad        an error, at this line
//	warn       a warning
//	panic      the parser panics
//	orphan     the compiler finds an error that it attributes to no file
//	crash      the compiler panics
type language struct {
	mu       sync.Mutex
	contents map[*policy.File]string
	sets     map[*policy.Set][]string
	parses   int
	compiles int
}

func newLanguage() *language {
	return &language{contents: make(map[*policy.File]string), sets: make(map[*policy.Set][]string)}
}

func (g *language) parse(name string, data []byte) (*policy.File, []policy.Problem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parses++
	var ps []policy.Problem
	domain := false
	for i, line := range strings.Split(string(data), "\n") {
		at := policy.Position{File: name, Line: i + 1, Column: 1}
		switch {
		case line == "bad":
			ps = append(ps, policy.Problem{At: at, Code: "bad", Message: "bad is not allowed", Hint: "remove it"})
		case line == "warn":
			ps = append(ps, policy.Problem{At: at, Code: "warn", Message: "doubtful", Warning: true})
		case line == "panic":
			panic("on purpose")
		case strings.HasPrefix(line, "domain "):
			domain = true
		}
	}
	if !domain {
		ps = append(ps, policy.Problem{At: policy.Position{File: name}, Code: "empty", Message: "has no domain"})
	}
	if policy.HasErrors(ps) {
		return nil, ps
	}
	f := &policy.File{Name: name}
	g.contents[f] = string(data)
	return f, ps
}

func (g *language) compile(files []*policy.File) (*policy.Set, []policy.Problem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.compiles++
	var ps []policy.Problem
	var all []string
	taken := make(map[string]bool)
	for _, f := range files {
		text := g.contents[f]
		all = append(all, filepath.Base(f.Name)+"="+short(text))
		for i, line := range strings.Split(text, "\n") {
			switch {
			case line == "orphan":
				ps = append(ps, policy.Problem{Message: "something is wrong somewhere"})
			case line == "crash":
				panic("on purpose")
			case strings.HasPrefix(line, "domain ") && taken[line]:
				ps = append(ps, policy.Problem{
					At: policy.Position{File: f.Name, Line: i + 1, Column: 8}, Code: "duplicate", Message: "duplicate " + line,
				})
			}
			taken[line] = true
		}
	}
	set := new(policy.Set)
	g.sets[set] = all
	return set, ps // like package policy: a set that leaves the offender out
}

// short is a content on one line, without what all have.
func short(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), "domain ", ""), "\n", "+")
}

// holds returns what a set was compiled from: name=content, in order.
func (g *language) holds(set *policy.Set) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if set == nil {
		return "nothing"
	}
	return strings.Join(g.sets[set], " ")
}

func (g *language) counts() (parses, compiles int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parses, g.compiles
}

// bench is a directory, a language, and a loader of the one in the other.
type bench struct {
	*testing.T
	dir  string
	lang *language
	opts Options
	l    *Loader
}

// newBench has a loader of the directory "p" of a temporary one, which exists.
func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{T: t, dir: t.TempDir(), lang: newLanguage()}
	b.mkdir("p")
	b.opts = Options{
		Paths: []string{b.path("p")}, Poll: time.Hour, Quiet: 10 * time.Millisecond,
		Parse: b.lang.parse, Compile: b.lang.compile,
	}
	for _, c := range change {
		c(&b.opts)
	}
	b.restart()
	return b
}

func inCache(o *Options) { o.CacheDir = filepath.Join(filepath.Dir(o.Paths[0]), "cache") }

func compat(o *Options) { o.Compat = true }

// restart is another process with the same options.
func (b *bench) restart() {
	b.Helper()
	l, err := New(b.opts)
	if err != nil {
		b.Fatal(err)
	}
	b.l = l
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) mkdir(name string) {
	b.Helper()
	b.must(os.MkdirAll(b.path(name), 0o755))
}

func (b *bench) write(name string, lines ...string) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.must(os.WriteFile(b.path(name), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

func (b *bench) remove(name string) {
	b.Helper()
	b.must(os.RemoveAll(b.path(name)))
}

func (b *bench) link(target, name string) {
	b.Helper()
	b.must(os.Symlink(target, b.path(name)))
}

func (b *bench) rename(from, to string) {
	b.Helper()
	b.must(os.Rename(b.path(from), b.path(to)))
}

// load loads, and fails unless the set holds what is wanted.
func (b *bench) load(want string) Report {
	b.Helper()
	set, report, err := b.l.Load(context.Background())
	if got := b.lang.holds(set); got != want {
		b.Fatalf("load gave %q, want %q; error %v, problems:\n%s", got, want, err, problems(&report))
	}
	if (set == nil) != (err != nil) {
		b.Fatalf("set %v with error %v", set, err)
	}
	return report
}

// state describes the files of a report: name:state, in order.
func state(r *Report) string {
	var out []string
	for _, f := range r.Files {
		s := filepath.Base(f.Name) + ":" + string(f.State)
		if f.Cached {
			s += ":cached"
		}
		if (f.State == Current) != f.Since.IsZero() {
			s += ":since?"
		}
		out = append(out, s)
	}
	if r.Rejected {
		out = append(out, "rejected")
	}
	return strings.Join(out, " ")
}

// problems lists a report's problems, one a line, by the base names of files.
func problems(r *Report) string {
	var out []string
	for _, p := range r.All() {
		s := fmt.Sprintf("%s:%d:%d %s", filepath.Base(p.At.File), p.At.Line, p.At.Column, p.Code)
		if p.Warning {
			s += " (warning)"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func (b *bench) expect(what, got, want string) {
	b.Helper()
	if got != want {
		b.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
