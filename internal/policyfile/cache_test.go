package policyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/policy"
)

// manyFiles writes n files and returns what a set of them holds.
func manyFiles(b *bench, n int) string {
	b.Helper()
	var want []string
	for i := range n {
		b.write(fmt.Sprintf("p/%04d.yaml", i), fmt.Sprintf("domain %04d", i))
		want = append(want, fmt.Sprintf("%04d.yaml=%04d", i, i))
	}
	return strings.Join(want, " ")
}

// TestLastGoodAcrossRestart: what was in service serves when the files are bad,
// gone or out of sight when the next process starts.
func TestLastGoodAcrossRestart(t *testing.T) {
	for _, tc := range []struct {
		name          string
		compat        bool
		between       func(b *bench)
		serves, files string
	}{
		{
			"nothing happened", false, func(*bench) {},
			"a.yaml=a b.yaml=b", "a.yaml:current b.yaml:current",
		},
		{
			"one is bad", false, func(b *bench) { b.write("p/a.yaml", "bad"); b.write("p/b.yaml", "domain b2") },
			"a.yaml=a b.yaml=b2", "a.yaml:stale:cached b.yaml:current",
		},
		{
			"all are bad", false, func(b *bench) { b.write("p/a.yaml", "bad"); b.write("p/b.yaml", "bad") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:stale:cached",
		},
		{
			"the path is gone", false, func(b *bench) { b.remove("p") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:stale:cached",
		},
		{
			"the path is empty, as where a volume is not mounted", false, func(b *bench) { b.remove("p"); b.mkdir("p") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:stale:cached",
		},
		{
			"one was deleted", false, func(b *bench) { b.remove("p/a.yaml") },
			"b.yaml=b", "b.yaml:current",
		},
		{
			"one contradicts the other", false, func(b *bench) { b.write("p/a.yaml", "domain b") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:current",
		},
		{
			"compat: one is bad", true, func(b *bench) { b.write("p/a.yaml", "bad"); b.write("p/b.yaml", "domain b2") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:stale:cached rejected",
		},
		{
			"compat: the path is empty", true, func(b *bench) { b.remove("p"); b.mkdir("p") },
			"a.yaml=a b.yaml=b", "a.yaml:stale:cached b.yaml:stale:cached rejected",
		},
		{
			"compat: one was deleted", true, func(b *bench) { b.remove("p/a.yaml") },
			"b.yaml=b", "b.yaml:current",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, inCache, func(o *Options) { o.Compat = tc.compat })
			b.write("p/a.yaml", "domain a")
			b.write("p/b.yaml", "domain b")
			b.load("a.yaml=a b.yaml=b")
			tc.between(b)
			for range 2 { // the second restart finds what the first left
				b.restart()
				for range 2 { // and a second look changes nothing
					r := b.load(tc.serves)
					b.expect("files", state(&r), tc.files)
				}
			}
		})
	}
}

// TestCachedFilesYieldToFound: once files are back, what is not among them was
// deleted.
func TestCachedFilesYieldToFound(t *testing.T) {
	b := newBench(t, inCache)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	b.remove("p")
	b.restart()
	b.load("a.yaml=a b.yaml=b")
	b.write("p/b.yaml", "domain b3")
	r := b.load("b.yaml=b3")
	b.expect("files", state(&r), "b.yaml:current")
}

// TestCacheOfOtherPaths: only files of the paths given now come back.
func TestCacheOfOtherPaths(t *testing.T) {
	for _, strict := range []bool{false, true} {
		b := newBench(t, inCache, func(o *Options) { o.Compat = strict })
		b.write("p/a.yaml", "domain a")
		b.write("q/b.yaml", "domain b")
		b.opts.Paths = append(b.opts.Paths, b.path("q"))
		b.restart()
		b.load("a.yaml=a b.yaml=b")
		b.remove("p")
		b.remove("q")
		b.opts.Paths = b.opts.Paths[:1]
		b.restart()
		b.load("a.yaml=a")
	}
}

func TestCacheDamaged(t *testing.T) {
	b := newBench(t, inCache)
	b.write("p/a.yaml", "domain a")
	b.load("a.yaml=a")
	file := b.path("cache/" + cacheName)
	good, err := os.ReadFile(file)
	b.must(err)
	for _, tc := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"cut short", good[:len(good)-1]},
		{"half", good[:len(good)/2]},
		{"longer", append(slices.Clone(good), 0)},
		{"one bit", flip(good, len(good)/2)},
		{"another format", flip(good, 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b.must(os.WriteFile(file, tc.data, 0o600))
			b.restart()
			b.write("p/a.yaml", "domain a", "bad")
			set, r, err := b.l.Load(t.Context())
			if set != nil || err == nil {
				t.Errorf("set %q, error %v", b.lang.holds(set), err)
			}
			b.expect("problems", problems(&r), "a.yaml:2:1 bad\n"+cacheName+":0:0 bad-cache (warning)")

			b.write("p/a.yaml", "domain a") // and the next good load writes it anew
			b.load("a.yaml=a")
			b.write("p/a.yaml", "bad")
			b.restart()
			b.load("a.yaml=a")
		})
	}
}

func flip(data []byte, at int) []byte {
	out := slices.Clone(data)
	out[at] ^= 1
	return out
}

func TestCacheEveryByteCounts(t *testing.T) {
	files := []served{
		{"a", "/a", "/", newVersion([]byte("domain a"), time.Unix(1, 0))},
		{"b", "/b", "/", newVersion(nil, time.Unix(2, 0))},
	}
	parts, err := encode(files)
	if err != nil {
		t.Fatal(err)
	}
	data := slices.Concat(parts...)
	got, err := decode(data)
	if err != nil || digestOf(got) != digestOf(files) || !got[0].at.Equal(files[0].at) {
		t.Fatalf("decoded %v, error %v", got, err)
	}
	for i := range data {
		if _, err := decode(flip(data, i)); err == nil {
			t.Errorf("a cache with byte %d changed was accepted", i)
		}
		if _, err := decode(data[:i]); err == nil {
			t.Errorf("a cache of %d bytes was accepted", i)
		}
	}
}

func FuzzCache(f *testing.F) {
	parts, err := encode([]served{{"a", "/a", "/", newVersion([]byte("domain a"), time.Unix(1, 0))}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(parts...))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := decode(data)
		if err == nil {
			if parts, err = encode(files); err != nil {
				t.Errorf("decoded and cannot be encoded: %v", err)
			}
		}
	})
}

// TestCacheOnDisk: one private file, no leftovers, nothing written in vain.
func TestCacheOnDisk(t *testing.T) {
	b := newBench(t, inCache)
	b.write("cache/.policies-123.tmp", "left by a crash long ago")
	b.write("cache/.policies-456.tmp", "being written by another")
	b.must(os.Chtimes(b.path("cache/.policies-123.tmp"), time.Time{}, time.Now().Add(-2*leftoverAge)))
	b.write("p/a.yaml", "domain a")
	b.load("a.yaml=a")
	file := b.path("cache/" + cacheName)
	info, err := os.Stat(file)
	b.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
	left, err := filepath.Glob(b.path("cache/.policies-*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".policies-456.tmp" {
		t.Errorf("left are %v, error %v", left, err)
	}
	b.restart()
	b.load("a.yaml=a")
	if again, err := os.Stat(file); err != nil || !os.SameFile(info, again) {
		t.Errorf("the same contents were written again, error %v", err)
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	b := newBench(t, inCache)
	b.write("cache", "a file where the directory should be")
	b.write("p/a.yaml", "domain a")
	r := b.load("a.yaml=a")
	if !strings.Contains(r.CacheError, b.path("cache")) {
		t.Errorf("cache error is %q", r.CacheError)
	}
	if all := r.All(); len(all) != 1 || all[0].Code != "bad-cache" || !strings.Contains(all[0].Hint, "name a directory") {
		t.Errorf("problems are %v; want a hint that helps", all)
	}
	b.remove("cache")
	if r = b.load("a.yaml=a"); r.CacheError != "" {
		t.Errorf("cache error is still %q", r.CacheError)
	}
}

// TestCacheErrorIsTheSame: what fails as before is no news, though temporary
// files have other names.
func TestCacheErrorIsTheSame(t *testing.T) {
	b := newBench(t, inCache)
	b.mkdir("cache/" + cacheName + "/x") // nothing can be renamed to it
	b.write("p/a.yaml", "domain a")
	first := b.load("a.yaml=a").CacheError
	if again := b.load("a.yaml=a").CacheError; first == "" || again != first {
		t.Errorf("cache error is %q, then %q", first, again)
	}
}

// TestCacheThatNoLongerParses: a newer version of the program may be stricter.
func TestCacheThatNoLongerParses(t *testing.T) {
	b := newBench(t, inCache)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b", "old")
	b.load("a.yaml=a b.yaml=b+old")
	b.write("p/b.yaml", "bad")
	lenient := b.opts.Parse
	b.opts.Parse = func(name string, data []byte) (*policy.File, []policy.Problem) {
		return lenient(name, []byte(strings.ReplaceAll(string(data), "old", "bad")))
	}
	b.restart()
	r := b.load("a.yaml=a")
	b.expect("files", state(&r), "a.yaml:current b.yaml:left_out")
}

// TestCacheAmongThePolicies: it is not taken for one of them.
func TestCacheAmongThePolicies(t *testing.T) {
	b := newBench(t, compat, func(o *Options) { o.CacheDir = o.Paths[0] })
	b.write("p/a", "domain a")
	b.load("a=a")
	b.load("a=a")
	b.write("p/a", "bad")
	b.restart()
	b.load("a=a")
}
