package policyfile

import "testing"

func TestCompatRejectsTheLoad(t *testing.T) {
	b := newBench(t, compat)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	for _, tc := range []struct {
		name             string
		change, back     func()
		files, complaint string
	}{
		{
			"a bad file", func() { b.write("p/a.yaml", "domain a2", "bad"); b.write("p/b.yaml", "domain b2") },
			func() { b.write("p/a.yaml", "domain a"); b.write("p/b.yaml", "domain b") },
			"a.yaml:stale b.yaml:stale rejected", "a.yaml:2:1 bad",
		},
		{
			"a new bad file", func() { b.write("p/c.yaml", "bad") }, func() { b.remove("p/c.yaml") },
			"a.yaml:current b.yaml:current c.yaml:left_out rejected", "c.yaml:0:0 empty\nc.yaml:1:1 bad",
		},
		{
			"a duplicate", func() { b.write("p/a.yaml", "domain b") }, func() { b.write("p/a.yaml", "domain a") },
			"a.yaml:stale b.yaml:current rejected", "b.yaml:1:8 duplicate",
		},
		{
			"a deletion beside a bad file", func() { b.remove("p/a.yaml"); b.write("p/b.yaml", "domain b", "bad") },
			func() { b.write("p/a.yaml", "domain a"); b.write("p/b.yaml", "domain b") },
			"a.yaml:stale b.yaml:stale rejected", "b.yaml:2:1 bad",
		},
		{
			"the directory is gone", func() { b.rename("p", "away") }, func() { b.rename("away", "p") },
			"a.yaml:stale b.yaml:stale rejected", "p:0:0 not-found\np:0:0 not-found\np:0:0 not-found",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.change()
			r := b.load("a.yaml=a b.yaml=b")
			b.expect("files", state(&r), tc.files)
			b.expect("problems", problems(&r), tc.complaint)
			tc.back()
			r = b.load("a.yaml=a b.yaml=b")
			b.expect("files", state(&r), "a.yaml:current b.yaml:current")
		})
	}
	b.remove("p/a.yaml")
	b.load("b.yaml=b")
}

func TestCompatStartsWithNothing(t *testing.T) {
	b := newBench(t, compat)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "bad")
	set, r, err := b.l.Load(t.Context())
	if set != nil || err == nil {
		t.Errorf("set %v, error %v", set, err)
	}
	b.expect("files", state(&r), "a.yaml:left_out b.yaml:left_out rejected")
}
