package measure

import (
	"errors"
	"runtime"
	"testing"

	"github.com/weirlimit/weir/bench/internal/peer"
)

func quiet(string, ...any) {}

func TestMemoryMeasuresEveryRoundOfEveryPeer(t *testing.T) {
	a, b := &fake{}, &fake{}
	procs := runtime.GOMAXPROCS(0)
	plan := MemoryPlan{Keys: []int{50, fewKeys}, Cores: []int{1, 2}, Checks: 10, Rounds: 1, Log: quiet}
	res, err := Memory(plan, []peer.Memory{a.memory("a"), b.memory("b")})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Speed) != 4 || len(res.Heap) != 2 {
		t.Fatalf("%d tables of speed and %d of heap, want 4 and 2", len(res.Speed), len(res.Heap))
	}
	for _, table := range res.Speed {
		rounds, _ := plan.rounds(table.Keys)
		for i, name := range []string{"a", "b"} {
			r := table.Rows[i]
			if r.Name != name || len(r.Wall) != rounds || len(r.CPU) != rounds || len(r.News) != rounds {
				t.Errorf("%d keys, %d cores, row %d is %+v, want %d rounds of %s", table.Keys, table.Cores, i, r, rounds, name)
			}
			for _, ns := range r.Wall {
				if ns <= 0 {
					t.Errorf("a check of %s took %v ns", name, ns)
				}
			}
		}
	}
	if few, _ := plan.rounds(50); few != moreTurns {
		t.Errorf("few keys take %d rounds, want %d", few, moreTurns)
	}
	if a.calls != b.calls || len(a.asked) != fewKeys || !a.closed {
		t.Errorf("a was asked %d times for %d keys (closed: %v), b %d times; want both alike, for %d",
			a.calls, len(a.asked), a.closed, b.calls, fewKeys)
	}
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("GOMAXPROCS is %d afterwards, was %d", got, procs)
	}
}

// A limiter that denies, in the fill or later, is no measurement.
func TestMemoryRefusesDenials(t *testing.T) {
	for _, at := range []int{1, 60} {
		f := &fake{denyAt: at}
		plan := MemoryPlan{Keys: []int{50}, Cores: []int{2}, Checks: 50, Rounds: 1, Log: quiet}
		if _, err := Memory(plan, []peer.Memory{f.memory("f")}); !errors.Is(err, errDenied) {
			t.Errorf("denial of call %d: error %v, want %v", at, err, errDenied)
		}
		if !f.closed {
			t.Errorf("denial of call %d: the limiter was not closed", at)
		}
	}
}

func TestMemoryReturnsFailures(t *testing.T) {
	f := &fake{failAt: 7}
	plan := MemoryPlan{Keys: []int{50}, Cores: []int{1}, Checks: 50, Rounds: 1, Log: quiet}
	if _, err := Memory(plan, []peer.Memory{f.memory("f")}); !errors.Is(err, errFake) {
		t.Errorf("error %v, want %v", err, errFake)
	}
}
