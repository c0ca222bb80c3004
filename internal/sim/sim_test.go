package sim

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
)

var (
	seeds = flag.Uint64("seeds", 200, "how many seeds TestSeeds plays, from 0")
	other = flag.Bool("prints", false, "TestPrints prints fingerprints of runs")
	seed  = flag.Int64("seed", -1, "the one seed that TestSeeds plays")
)

// play runs so many seeds, of one scenario or all, on all processors until one
// fails.
func play(in string, count uint64, s seams, each func(*Report)) *Report {
	var list []uint64
	for i := uint64(0); uint64(len(list)) < count; i++ {
		if in == "" || scenarios[i%uint64(len(scenarios))].name == in {
			list = append(list, i)
		}
	}
	var (
		next  atomic.Uint64
		group sync.WaitGroup
		stop  atomic.Bool
		mu    sync.Mutex
		first *Report
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for !stop.Load() {
				i := next.Add(1) - 1
				if i >= count {
					return
				}
				r := run(list[i], s)
				mu.Lock()
				if r.Failed() && (first == nil || r.Seed < first.Seed) {
					first = r // of several, always the same
					stop.Store(true)
				}
				if each != nil {
					each(r)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return first
}

// TestSeeds plays seeds. What it is for is in docs/simulator.md.
func TestSeeds(t *testing.T) {
	if *seed >= 0 {
		r := Run(uint64(*seed))
		t.Logf("answers by source: %v, admitted %d, faults %v, fingerprint %x", r.Answers, r.Admitted, r.Faults, r.Print)
		if r.Failed() {
			t.Fatal(r)
		}
		return
	}
	var answers [weir.SourceSwitch + 1]int64
	broke := map[string]int{}
	r := play("", *seeds, seams{}, func(r *Report) {
		for i, n := range r.Answers {
			answers[i] += n
		}
		for name, n := range r.Faults {
			broke[name] += n
		}
	})
	if r != nil {
		t.Fatal(r)
	}
	t.Logf("%d seeds: answers by source %v, faults %v", *seeds, answers, broke)
	// A simulator in which nothing happens finds nothing.
	for _, s := range []weir.Source{weir.SourceStore, weir.SourceDenyCache, weir.SourceLease, weir.SourceBackstop} {
		if answers[s] < 1000 && *seeds >= 200 {
			t.Errorf("%d answers by %s", answers[s], s)
		}
	}
	for _, f := range faults {
		if broke[f.name] == 0 && *seeds >= 200 {
			t.Errorf("no %s", f.name)
		}
	}
}

// TestSameSeedSameRun plays some seeds of each scenario twice: here, and in a
// process of its own, whose secrets and addresses are others.
func TestSameSeedSameRun(t *testing.T) {
	here := prints()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, "-test.run=^TestPrints$", "-prints").Output()
	if err != nil {
		t.Fatalf("play in another process: %v\n%s", err, out)
	}
	there, _, _ := strings.Cut(string(out), "PASS")
	if there != here {
		t.Errorf("a seed is another run in another process:\nhere\n%sthere\n%s", here, there)
	}
	lines := strings.Split(here, "\n")
	slices.Sort(lines)
	if n := len(slices.Compact(lines)); n != printed+1 { // and an empty one
		t.Errorf("%d different runs of %d seeds", n-1, printed)
	}
}

// TestPrints is the other process.
func TestPrints(*testing.T) {
	if *other {
		fmt.Print(prints())
	}
}

const printed = 24

// prints returns the fingerprints of the first seeds, one a line.
func prints() string {
	var b strings.Builder
	for i := range uint64(printed) {
		fmt.Fprintf(&b, "%016x\n", Run(i).Print)
	}
	return b.String()
}
