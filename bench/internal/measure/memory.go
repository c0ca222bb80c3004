package measure

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/bench/internal/peer"
)

// MemoryLimit is what every library enforces in memory: so much that nothing
// is denied, and so slow to refill that no key expires or is whole again
// during a run. Every library then has every key to keep.
var MemoryLimit = peer.Limit{Count: 100_000, Period: 365 * 24 * time.Hour}

// MemoryPlan says what to measure in memory.
type MemoryPlan struct {
	Keys   []int                            // how many keys a limiter holds
	Cores  []int                            // GOMAXPROCS, and as many goroutines
	Checks int                              // of a library in a round, about
	Rounds int                              // with many keys; with few, moreTurns as many, each as much shorter
	Log    func(format string, args ...any) // progress
}

// Few keys are measured in more and shorter rounds: filling them costs nothing,
// and libraries differ less, so that a neighbour's burst of work decides more.
const (
	fewKeys   = 100_000
	moreTurns = 3
)

func (plan MemoryPlan) rounds(keys int) (rounds, checks int) {
	if keys < fewKeys {
		return plan.Rounds * moreTurns, plan.Checks / moreTurns
	}
	return plan.Rounds, plan.Checks
}

// MemoryResult is what came out, in the order of the plan.
type MemoryResult struct {
	Speed []SpeedTable
	Heap  []HeapTable
}

// SpeedTable is one number of keys on one number of cores.
type SpeedTable struct {
	Keys, Cores int
	Rows        []SpeedRow
}

// SpeedRow is one library; the slices have one element a round.
type SpeedRow struct {
	Name string
	Ours bool
	Wall []float64 // ns between two decisions, of all cores together
	CPU  []float64 // ns of processor time a decision, the collector's included
	News []float64 // allocations a decision
}

// HeapTable is one number of keys.
type HeapTable struct {
	Keys int
	Rows []HeapRow
}

// HeapRow is one library; the slices have one element a round.
type HeapRow struct {
	Name  string
	Ours  bool
	Bytes []float64 // heap a key, beyond the key's own KeyBytes
	GC    []float64 // ms of processor time for one collection with all keys held
}

// Memory runs the plan.
func Memory(plan MemoryPlan, peers []peer.Memory) (MemoryResult, error) {
	var res MemoryResult
	for _, keys := range plan.Keys {
		rounds, checks := plan.rounds(keys)
		m := newMemoryRun(plan.Cores, keys, checks, peers)
		for round := range rounds {
			plan.Log("memory, %d keys, round %d of %d", keys, round+1, rounds)
			for i := range peers {
				at := (round + i) % len(peers)
				if err := m.measure(at, peers[at]); err != nil {
					return MemoryResult{}, fmt.Errorf("measure %s in memory: %w", peers[at].Name, err)
				}
			}
		}
		res.Speed = append(res.Speed, m.speed...)
		res.Heap = append(res.Heap, m.heap)
	}
	return res, nil
}

// memoryRun is the measurement of one number of keys.
type memoryRun struct {
	keys   int
	seq    []string
	passes int // over seq, in one measurement
	speed  []SpeedTable
	heap   HeapTable
}

func newMemoryRun(cores []int, keys, checks int, peers []peer.Memory) *memoryRun {
	orders := max(1, fewKeys/keys) // several, so that no predictor learns one
	m := &memoryRun{keys: keys, seq: sequence(keys, orders), heap: HeapTable{Keys: keys}}
	m.passes = max(1, checks/len(m.seq))
	for _, n := range cores {
		t := SpeedTable{Keys: keys, Cores: n}
		for _, p := range peers {
			t.Rows = append(t.Rows, SpeedRow{Name: p.Name, Ours: p.Ours})
		}
		m.speed = append(m.speed, t)
	}
	for _, p := range peers {
		m.heap.Rows = append(m.heap.Rows, HeapRow{Name: p.Name, Ours: p.Ours})
	}
	return m
}

// measure fills a new limiter of p and adds one round to row at of each table.
func (m *memoryRun) measure(at int, p peer.Memory) (err error) {
	runtime.GC() // runs the finalizers of the last limiter, whose memory the next one frees
	before, _ := liveHeap()
	l, err := p.New(MemoryLimit, m.keys)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := l.Close(); err == nil {
			err = cerr
		}
	}()
	if err := m.fill(l); err != nil {
		return err
	}
	after, gc := liveHeap()
	row := &m.heap.Rows[at]
	row.Bytes = append(row.Bytes, float64(after-before)/float64(m.keys)-KeyBytes)
	row.GC = append(row.GC, gc.Seconds()*1e3)

	for i := range m.speed {
		if err := m.time(&m.speed[i].Rows[at], l, m.speed[i].Cores); err != nil {
			return err
		}
	}
	return nil
}

// fill asks for every key once. The collector waits meanwhile: marking a heap
// that grows to a million keys time and again takes seconds, and filling is not
// what is measured.
func (m *memoryRun) fill(l peer.Limiter) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range m.keys {
		// A key that nobody else holds: whoever keeps the caller's string pays
		// for it as whoever copies it does.
		if err := pass(l, newKey(i)); err != nil {
			return err
		}
	}
	return nil
}

// time adds one round to row.
func (m *memoryRun) time(row *SpeedRow, l peer.Limiter, cores int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	if err := m.check(l, cores, 1, m.seq[:min(len(m.seq), 100_000)]); err != nil { // warms up
		return err
	}
	start := used(false)
	err := m.check(l, cores, m.passes, m.seq)
	end := used(true)
	n := float64(len(m.seq) * m.passes)
	row.Wall = append(row.Wall, float64(end.at.Sub(start.at))/n)
	row.CPU = append(row.CPU, float64(end.cpu-start.cpu)/n)
	row.News = append(row.News, float64(end.mallocs-start.mallocs)/n)
	return err
}

// check goes over seq that many times, each goroutine over its own part.
func (m *memoryRun) check(l peer.Limiter, goroutines, passes int, seq []string) error {
	var wg sync.WaitGroup
	var failed atomic.Pointer[failure]
	for g := range goroutines {
		part := seq[g*len(seq)/goroutines : (g+1)*len(seq)/goroutines]
		wg.Go(func() {
			for range passes {
				for _, key := range part {
					if err := pass(l, key); err != nil {
						failed.Store(&failure{err})
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if f := failed.Load(); f != nil {
		return f.err
	}
	return nil
}

// failure holds an error: the address of a local one would put it on the heap
// at every check.
type failure struct{ err error }

// pass charges one unit, which the limits of this package always have.
func pass(l peer.Limiter, key string) error {
	ok, err := l.Allow(context.Background(), key)
	if err == nil && !ok {
		err = errDenied
	}
	return err
}
