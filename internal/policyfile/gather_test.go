package policyfile

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/policy"
)

// onParse runs a hook before each parse, which is while a pass reads files.
func (b *bench) onParse(hook func(data string)) {
	b.opts.Parse = func(name string, data []byte) (*policy.File, []policy.Problem) {
		hook(string(data))
		return b.lang.parse(name, data)
	}
	b.restart()
}

// replace writes a file in one step.
func (b *bench) replace(name, text string) {
	b.write("new", text)
	b.rename("new", name)
}

// TestPassSeesOneInstant: files that change while they are read are read again.
func TestPassSeesOneInstant(t *testing.T) {
	b := newBench(t)
	b.onParse(func(data string) {
		if data == "domain a1\n" {
			b.replace("p/a.yaml", "domain a2")
			b.replace("p/b.yaml", "domain b2")
		}
	})
	b.write("p/a.yaml", "domain a1")
	b.write("p/b.yaml", "domain b1")
	b.load("a.yaml=a2 b.yaml=b2")
}

// TestPassSeesDeletion of a file that it is about to read.
func TestPassSeesDeletion(t *testing.T) {
	b := newBench(t)
	b.onParse(func(string) { b.remove("p/b.yaml") })
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	r := b.load("a.yaml=a")
	b.expect("files", state(&r), "a.yaml:current")
}

// TestRestlessFiles: a pass does not go on for ever, and another one is due by
// itself, without an event or a poll.
func TestRestlessFiles(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.events = func() (events, error) { return handEvents{}, nil }
	})
	texts := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	b.onParse(func(string) {
		if len(texts) > 0 {
			b.replace("p/a.yaml", "domain "+texts[0])
			texts = texts[1:]
		}
	})
	b.write("p/a.yaml", "domain 0")
	w := b.watch()
	w.serves("a.yaml=8")
	if first := w.all()[0].serves; first != "a.yaml=2" { // the third try
		t.Errorf("was told first of %s", first)
	}
}

// TestFreshStamps: a change that leaves the stamp as it is, because the clock of
// the file system is coarse, is seen when the file was read soon after the
// change before it, and only then.
func TestFreshStamps(t *testing.T) {
	now := time.Unix(1000, 0)
	for age, want := range map[time.Duration]bool{
		0: true, time.Second: true, raceWindow: false, time.Hour: false, -time.Hour: true,
	} {
		at := now.Add(-age).UnixNano()
		if got := (stamp{modified: at, changed: 1}).fresh(now); got != want {
			t.Errorf("modified %v ago, it is fresh: %v", age, got)
		}
		if got := (stamp{modified: 1, changed: at}).fresh(now); got != want {
			t.Errorf("changed %v ago, it is fresh: %v", age, got)
		}
	}
	for _, fresh := range []bool{true, false} {
		b := newBench(t)
		b.write("p/a.yaml", "domain a")
		b.load("a.yaml=a")
		b.write("p/a.yaml", "domain b")
		key := b.path("p/a.yaml")
		k := b.l.known[key]
		k.stamp, k.fresh = b.l.look().files[0].stamp, fresh
		b.l.known[key] = k
		b.l.view = b.l.look()
		if got := b.l.moved(); got != fresh {
			t.Errorf("a poll sees the change: %v, want %v", got, fresh)
		}
		_, err := b.l.run(t.Context(), nil, false)
		b.must(err)
		set, _ := b.l.Current()
		if got, want := b.lang.holds(set), map[bool]string{true: "a.yaml=b", false: "a.yaml=a"}[fresh]; got != want {
			t.Errorf("fresh %v: serves %s, want %s", fresh, got, want)
		}
		b.load("a.yaml=b") // a load reads everything
	}
}
