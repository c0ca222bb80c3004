package obs

import "sync/atomic"

// grid is a table of counters: rows of slots, in stripes that several cores
// add to at once. A row is whole cache lines, so that busy rows do not slow
// each other down.
//
// Adding is wait-free. A grid ends by being swept: each cell is taken and
// marked in one step, so that each unit is either in what sweep returns or told
// to its adder, never both and never neither.
type grid struct {
	cells []atomic.Uint64
	rows  uint32
	shift uint8  // of a row: it has 1<<shift slots
	mask  uint32 // the number of stripes, a power of two, less one

	// Sums over all rows, per slot: what was read last, and what was last given
	// to a scrape. Guarded by Metrics.mu.
	collected, exported []uint64
}

// swept marks a cell that was taken. A counter does not get there: at a
// billion a second, 2^63 take 292 years.
const swept = 1 << 63

func newGrid(rows int, shift uint8, stripes int) grid {
	return grid{
		cells:     make([]atomic.Uint64, stripes*rows<<shift),
		rows:      uint32(rows),
		shift:     shift,
		mask:      uint32(stripes - 1),
		collected: make([]uint64, 1<<shift),
		exported:  make([]uint64, 1<<shift),
	}
}

// add adds 1, and tells whether it counts: not so in a grid that was swept.
// slot is below 1<<shift; any row and stripe will do.
func (g *grid) add(row, slot, stripe uint32) bool {
	if row >= g.rows {
		row = rowOther
	}
	return g.cells[((stripe&g.mask)*g.rows+row)<<g.shift|slot].Add(1) < swept
}

// read appends the counts of a row, one per slot, to into.
func (g *grid) read(row int, into []uint64) []uint64 {
	for slot := range 1 << g.shift {
		var n uint64
		for s := range g.mask + 1 {
			n += g.cells[(int(s)*int(g.rows)+row)<<g.shift|slot].Load() &^ swept
		}
		into = append(into, n)
	}
	return into
}

// readAll returns the counts of all rows, and remembers their sums.
func (g *grid) readAll() [][]uint64 {
	clear(g.collected)
	all := make([]uint64, 0, int(g.rows)<<g.shift)
	rows := make([][]uint64, g.rows)
	for row := range rows {
		from := len(all)
		all = g.read(row, all)
		rows[row] = all[from:]
		for slot, n := range rows[row] {
			g.collected[slot] += n
		}
	}
	return rows
}

// scraped notes that what was last read is now known outside.
func (g *grid) scraped() { copy(g.exported, g.collected) }

// sweep ends the grid, and returns per slot what no scrape has seen.
func (g *grid) sweep() []uint64 {
	left := make([]uint64, 1<<g.shift)
	for i := range g.cells {
		left[i&(1<<g.shift-1)] += g.cells[i].Swap(swept)
	}
	for slot := range left {
		left[slot] -= g.exported[slot]
	}
	return left
}
