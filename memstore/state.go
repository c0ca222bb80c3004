package memstore

import (
	"encoding/binary"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// A block of runs is, for each, t 8, n 4 and of Slots owner 16, little-endian.
const (
	runBytes  = 12
	slotBytes = 28
)

func runSize(machine weir.Machine) int {
	if machine == weir.Slots {
		return slotBytes
	}
	return runBytes
}

// load reads the state in a cell for m; st is empty, with runs to reuse. What
// another machine wrote reads as empty.
func (s *shard) load(c cell, m *weir.Meter, st *algo.State) {
	if c.machine() != m.Machine {
		return
	}
	c.load(st)
	switch {
	case m.Machine < weir.Runs:
	case c.hasRun():
		st.Runs = append(st.Runs, algo.Run{T: st.At, N: st.Used})
		st.At, st.Frac = 0, 0
	default:
		ref, n := c.runs()
		st.At = 0
		loadRuns(s.slab.at(ref, n*runSize(m.Machine)), m.Machine, st)
	}
}

func loadRuns(b []byte, machine weir.Machine, st *algo.State) {
	size := runSize(machine)
	for ; len(b) >= size; b = b[size:] {
		run := algo.Run{
			T: weir.Micros(binary.LittleEndian.Uint64(b)),
			N: int64(binary.LittleEndian.Uint32(b[8:])),
		}
		if machine == weir.Slots {
			run.Owner = algo.Owner(b[runBytes:slotBytes])
		}
		st.Runs = append(st.Runs, run)
	}
}

func saveRuns(b []byte, machine weir.Machine, runs []algo.Run) {
	size := runSize(machine)
	for i := range runs {
		binary.LittleEndian.PutUint64(b, uint64(runs[i].T))
		binary.LittleEndian.PutUint32(b[8:], uint32(runs[i].N))
		if machine == weir.Slots {
			copy(b[runBytes:slotBytes], runs[i].Owner[:])
		}
		b = b[size:]
	}
}

// moveRuns puts the runs of a state into a block: the one the cell has, if they
// fit and take at least half of it, else another. Where the machine changes, one
// of the two has no runs. It returns the cell's first word and frac.
//
// One run needs no block: most keys of a long window are asked for so seldom, or
// have so large a limit, that there is no other, and a block is another place in
// memory to wait for.
func (s *shard) moveRuns(w *write, c cell) (first, frac uint64) {
	machine, runs := w.meter.Machine, w.state.Runs
	size := len(runs) * runSize(machine)
	alone := machine == weir.Runs && len(runs) == 1
	if alone {
		size = 0
	}
	ref := uint32(0)
	if c.hasRuns() {
		ref, _ = c.runs()
		if has := s.slab.sizeAt(ref); size > has || size == 0 || 2*size < has && has > 128 {
			s.slab.free(ref)
			ref = 0
		}
	}
	switch {
	case machine < weir.Runs:
		return uint64(w.state.At), uint64(w.state.Frac)
	case alone:
		return uint64(runs[0].T), onlyRun
	}
	if ref == 0 {
		ref = s.slab.alloc(size)
	}
	saveRuns(s.slab.at(ref, size), machine, runs)
	return uint64(ref) | uint64(len(runs))<<32, 0
}

// shareOf is the share of the capacity in use, in 255ths, rounded up: only an
// empty state has none. Always charges can pass the capacity.
func shareOf(m *weir.Meter, used int64) uint8 {
	if used >= m.Capacity {
		return 255
	}
	if uint64(used)*255 <= uint64(m.Capacity) { // of most, so little is in use
		return 1
	}
	// Below 2^32, where a division takes half the time.
	return uint8((uint32(used)*255 + uint32(m.Capacity) - 1) / uint32(m.Capacity))
}
