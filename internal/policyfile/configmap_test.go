package policyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// volume is a Kubernetes ConfigMap volume, changed as the kubelet does it: a new
// directory, a link to it that takes the old link's place by rename, links for
// new keys, no links for removed ones, and the old directory goes.
type volume struct {
	*bench
	dir     string // below the bench's
	version int
}

func (v *volume) set(files map[string]string) {
	v.Helper()
	old, _ := os.Readlink(v.path(v.dir + "/..data")) // none the first time
	v.version++
	dir := fmt.Sprintf("..2026_11_15_10_00_00.%09d", v.version)
	for name, text := range files {
		v.write(v.dir+"/"+dir+"/"+name, text)
	}
	v.link(dir, v.dir+"/..data_tmp")
	v.rename(v.dir+"/..data_tmp", v.dir+"/..data")
	for name := range files {
		if _, err := os.Lstat(v.path(v.dir + "/" + name)); err != nil {
			v.link("..data/"+name, v.dir+"/"+name)
		}
	}
	links, err := filepath.Glob(v.path(v.dir + "/*.yaml"))
	v.must(err)
	for _, l := range links {
		if _, ok := files[filepath.Base(l)]; !ok {
			v.must(os.Remove(l))
		}
	}
	if old != "" {
		v.remove(v.dir + "/" + old)
	}
}

// TestConfigMap: every swap is seen, by events alone, and no set is of two
// versions.
func TestConfigMap(t *testing.T) {
	b := newBench(t)
	v := &volume{bench: b, dir: "p"}
	pair := func(n int) map[string]string {
		return map[string]string{"a.yaml": fmt.Sprintf("domain a%d", n), "b.yaml": fmt.Sprintf("domain b%d", n)}
	}
	v.set(pair(0))
	w := b.watch()
	w.serves("a.yaml=a0 b.yaml=b0")
	for n := 1; n <= 20; n++ {
		v.set(pair(n))
		w.serves(fmt.Sprintf("a.yaml=a%d b.yaml=b%d", n, n))
	}
	for _, told := range w.all() {
		var x, y int
		if n, err := fmt.Sscanf(told.serves, "a.yaml=a%d b.yaml=b%d", &x, &y); n != 2 || err != nil || x != y {
			t.Errorf("a set of two versions was in service: %s", told.serves)
		}
		if !told.report.OK() {
			t.Errorf("problems with %s:\n%s", told.serves, problems(&told.report))
		}
	}
}

// TestConfigMapKeys: keys come and go, and a bad one keeps its last good version.
func TestConfigMapKeys(t *testing.T) {
	b := newBench(t)
	v := &volume{bench: b, dir: "p"}
	v.set(map[string]string{"a.yaml": "domain a"})
	w := b.watch()
	w.serves("a.yaml=a")
	v.set(map[string]string{"a.yaml": "domain a", "b.yaml": "domain b"})
	w.serves("a.yaml=a b.yaml=b")
	v.set(map[string]string{"a.yaml": "bad", "b.yaml": "domain b2"})
	w.serves("a.yaml=a b.yaml=b2")
	v.set(map[string]string{"b.yaml": "domain b3"})
	w.serves("b.yaml=b3")
}

// TestConfigMapOneKey: a file of the volume is named, not the volume.
func TestConfigMapOneKey(t *testing.T) {
	b := newBench(t)
	b.opts.Paths = []string{b.path("p/a.yaml")}
	b.restart()
	v := &volume{bench: b, dir: "p"}
	v.set(map[string]string{"a.yaml": "domain a"})
	w := b.watch()
	w.serves("a.yaml=a")
	v.set(map[string]string{"a.yaml": "domain a2"})
	w.serves("a.yaml=a2")
}

// TestConfigMapVersionsAreNotRead by themselves.
func TestConfigMapVersionsAreNotRead(t *testing.T) {
	b := newBench(t, func(o *Options) { o.DotFiles = true })
	v := &volume{bench: b, dir: "p"}
	v.set(map[string]string{"a.yaml": "domain a"})
	r := b.load("a.yaml=a")
	for _, f := range r.Files {
		if strings.Contains(f.Name, "..") {
			t.Errorf("%s was read", f.Name)
		}
	}
}
