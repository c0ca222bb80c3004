package policyfile

import "testing"

func TestBadFileKeepsItsOwnLastGood(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	first := b.load("a.yaml=a b.yaml=b")

	b.write("p/a.yaml", "domain a2", "", "bad")
	b.write("p/b.yaml", "domain b2", "warn")
	bad := b.load("a.yaml=a b.yaml=b2+warn")
	b.expect("files", state(&bad), "a.yaml:stale b.yaml:current")
	b.expect("problems", problems(&bad), "a.yaml:3:1 bad\nb.yaml:2:1 warn (warning)")
	if f := bad.Files[0]; f.Sum != first.Files[0].Sum || !f.LoadedAt.Equal(first.Files[0].LoadedAt) {
		t.Errorf("the stale file says %+v, its good version was %+v", f, first.Files[0])
	}

	b.write("p/a.yaml", "domain a3", "bad")
	worse := b.load("a.yaml=a b.yaml=b2+warn")
	if !worse.Files[0].Since.Equal(bad.Files[0].Since) {
		t.Errorf("stale since %v, and then since %v", bad.Files[0].Since, worse.Files[0].Since)
	}

	b.write("p/a.yaml", "domain a4")
	good := b.load("a.yaml=a4 b.yaml=b2+warn")
	b.expect("files", state(&good), "a.yaml:current b.yaml:current")
}

func TestNewBadFileIsLeftOut(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "bad")
	r := b.load("a.yaml=a")
	b.expect("files", state(&r), "a.yaml:current b.yaml:left_out")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
}

func TestDeletedFileGoesAway(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	b.remove("p/b.yaml")
	r := b.load("a.yaml=a")
	b.expect("files", state(&r), "a.yaml:current")
	b.remove("p/a.yaml")
	r = b.load("")
	b.expect("problems", problems(&r), "p:0:0 no-files (warning)")
}

// TestStaleFileThatIsDeletedGoesAway: its last good version does not outlive it.
func TestStaleFileThatIsDeletedGoesAway(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	b.write("p/b.yaml", "bad")
	b.load("a.yaml=a b.yaml=b")
	b.remove("p/b.yaml")
	b.load("a.yaml=a")
	b.write("p/b.yaml", "bad")
	r := b.load("a.yaml=a")
	b.expect("files", state(&r), "a.yaml:current b.yaml:left_out")
}

// TestOutOfSightIsNotDeleted: what cannot be looked at keeps what it had.
func TestOutOfSightIsNotDeleted(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(b *bench)
		problems string
	}{
		{"the path is gone", func(b *bench) { b.remove("p") }, "p:0:0 not-found\np:0:0 not-found\np:0:0 not-found"},
		{"a file in place of the path", func(b *bench) { b.remove("p"); b.write("p", "bad") }, ""},
		{"a directory in place of a file", func(b *bench) { b.remove("p/a.yaml"); b.mkdir("p/a.yaml") }, "a.yaml:0:0 is-directory"},
		{"a link to nowhere", func(b *bench) { b.remove("p/a.yaml"); b.link("nowhere", "p/a.yaml") }, "a.yaml:0:0 not-found"},
		{"a directory that loops", func(b *bench) { b.remove("p/sub"); b.link(".", "p/sub") }, "sub:0:0 link-loop\nsub:0:0 link-loop"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.write("p/a.yaml", "domain a")
			b.write("p/sub/b.yaml", "domain b")
			b.load("a.yaml=a b.yaml=b")
			tc.change(b)
			if tc.problems == "" { // a file is a file: the others were deleted
				r := b.load("")
				b.expect("problems", problems(&r), "p:0:0 empty\np:1:1 bad")
				return
			}
			r := b.load("a.yaml=a b.yaml=b")
			b.expect("problems", problems(&r), tc.problems)
			if r.OK() {
				t.Error("the report is fine with it")
			}
			b.load("a.yaml=a b.yaml=b")
		})
	}
}

func TestContradictions(t *testing.T) {
	type step struct{ file, text, serves, state string }
	for _, tc := range []struct {
		name  string
		first []step // written before the first load, one load for all
		then  []step
	}{
		{
			"of new files the later is left out",
			[]step{{"a", "x", "", ""}, {"b", "x", "", ""}, {"c", "c", "a.yaml=x c.yaml=c", "a.yaml:current b.yaml:left_out c.yaml:current"}},
			[]step{
				{"b", "b", "a.yaml=x b.yaml=b c.yaml=c", "a.yaml:current b.yaml:current c.yaml:current"},
			},
		},
		{
			"a changed file yields to those in service, though it is earlier",
			[]step{{"a", "a", "", ""}, {"b", "b", "a.yaml=a b.yaml=b", "a.yaml:current b.yaml:current"}},
			[]step{
				{"a", "b", "a.yaml=a b.yaml=b", "a.yaml:stale b.yaml:current"},
				{"c", "c", "a.yaml=a b.yaml=b c.yaml=c", "a.yaml:stale b.yaml:current c.yaml:current"},
				{"b", "b2", "a.yaml=b b.yaml=b2 c.yaml=c", "a.yaml:current b.yaml:current c.yaml:current"},
			},
		},
		{
			"and to a last good version",
			[]step{{"a", "a", "", ""}, {"b", "b", "a.yaml=a b.yaml=b", "a.yaml:current b.yaml:current"}},
			[]step{
				{"b", "b2\nbad", "a.yaml=a b.yaml=b", "a.yaml:current b.yaml:stale"},
				{"a", "b", "a.yaml=a b.yaml=b", "a.yaml:stale b.yaml:stale"},
				{"b", "b3", "a.yaml=b b.yaml=b3", "a.yaml:current b.yaml:current"},
			},
		},
		{
			"two files exchange what they hold",
			[]step{{"a", "x", "", ""}, {"b", "y", "a.yaml=x b.yaml=y", "a.yaml:current b.yaml:current"}},
			[]step{
				{"a", "y", "a.yaml=x b.yaml=y", "a.yaml:stale b.yaml:current"},
				{"b", "x", "a.yaml=y b.yaml=x", "a.yaml:current b.yaml:current"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			check := func(s step) {
				t.Helper()
				r := b.load(s.serves)
				b.expect("files", state(&r), s.state)
			}
			for _, s := range tc.first {
				b.write("p/"+s.file+".yaml", "domain "+s.text)
			}
			check(tc.first[len(tc.first)-1])
			for _, s := range tc.then {
				b.write("p/"+s.file+".yaml", "domain "+s.text)
				check(s)
			}
		})
	}
}

// TestContradictionHasAPosition: in the file that is set back.
func TestContradictionHasAPosition(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	b.write("p/a.yaml", "", "domain b")
	r := b.load("a.yaml=a b.yaml=b")
	b.expect("problems", problems(&r), "a.yaml:2:8 duplicate")

	_, before := b.lang.counts() // and is not worked out again while nothing changes
	r = b.load("a.yaml=a b.yaml=b")
	b.expect("problems", problems(&r), "a.yaml:2:8 duplicate")
	if _, after := b.lang.counts(); after != before {
		t.Errorf("compiled %d times more", after-before)
	}
}

// TestFaultOfNoFile: what cannot be attributed keeps the whole load out.
func TestFaultOfNoFile(t *testing.T) {
	for _, word := range []string{"orphan", "crash"} {
		b := newBench(t)
		b.write("p/a.yaml", "domain a")
		b.write("p/b.yaml", "domain b")
		b.load("a.yaml=a b.yaml=b")
		b.write("p/a.yaml", "domain a2", word)
		b.remove("p/b.yaml")
		r := b.load("a.yaml=a b.yaml=b")
		b.expect("files", state(&r), "a.yaml:stale b.yaml:stale rejected")
		if len(r.Problems) != 1 {
			t.Errorf("problems:\n%s", problems(&r))
		}
		b.write("p/a.yaml", "domain a3")
		b.load("a.yaml=a3")
	}
}

// TestOnlyWhatChangedIsParsed among a thousand files, and nothing is compiled
// when nothing changed.
func TestOnlyWhatChangedIsParsed(t *testing.T) {
	b := newBench(t)
	want := manyFiles(b, 1000)
	b.load(want)
	parses, compiles := b.lang.counts()
	if parses != 1000 || compiles != 1 {
		t.Fatalf("%d parses and %d compiles, want 1000 and 1", parses, compiles)
	}
	before, _ := b.l.Current()
	b.load(want)
	if after, _ := b.l.Current(); after != before {
		t.Error("the same files gave another set")
	}
	b.write("p/0500.yaml", "domain 0500", "bad")
	b.load(want)
	parses, compiles = b.lang.counts()
	if parses != 1001 || compiles != 1 {
		t.Fatalf("%d parses and %d compiles, want 1001 and 1", parses, compiles)
	}
}
