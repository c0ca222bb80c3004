package memstore

// table is a hash table whose cells hold the states and, if they are short,
// the keys themselves: finding a key touches one place in memory, and at a
// million keys that is most of what a check costs. Open addressing, linear
// probing.
//
// A hash's home is its low 32 bits times the number of cells, over 2^32. That
// needs no power of two, so a table grows by a fifth at a time and is never much
// larger than it must be.
type table struct {
	cells    []byte
	cellSize uint32
	slots    uint32 // cells there are
	n        uint32 // cells in use
	// dues has, for every segment of cells, an instant before which none in it
	// expires; see shard.sweep.
	dues []tick
}

// The tables of a shard. Table i holds keys of up to 8*i bytes in cells of
// 24 + 8*i; table 0 those that spilled to the slab.
const (
	spilled = 0
	tables  = 1 + maxInline/8
)

const (
	leastCells = 8
	segment    = 32 // cells
	// At most loadNum of loadDen cells are in use. A hit then looks at 2.5 cells
	// on average, which lie side by side.
	loadNum = 4
	loadDen = 5
)

func cellSizeOf(table int) uint32 {
	if table == spilled {
		return headBytes + 8
	}
	return uint32(headBytes + 8*table)
}

// home is where the search for a hash starts.
func (t *table) home(hash uint64) int {
	return int(uint64(uint32(hash)) * uint64(t.slots) >> 32)
}

func (t *table) at(i int) cell { return cell(t.cells[uint(i)*uint(t.cellSize):]) }

func (t *table) after(i int) int {
	if i++; i == int(t.slots) {
		return 0
	}
	return i
}

// full tells whether another key needs more cells.
func (t *table) full() bool { return (t.n+1)*loadDen > t.slots*loadNum }

// vacant claims a cell for a hash; the table is not full.
func (t *table) vacant(hash uint64) int {
	i := t.home(hash)
	for !t.at(i).isEmpty() {
		i = t.after(i)
	}
	t.n++
	return i
}

// remove empties a cell and closes the gap: a tombstone would make every later
// search longer. What follows moves back unless it would pass its home.
func (t *table) remove(gap int, h hasher) {
	for i := t.after(gap); ; i = t.after(i) {
		c := t.at(i)
		if c.isEmpty() {
			break
		}
		if t.distance(t.home(h.hash(c)), i) >= t.distance(gap, i) {
			copy(t.at(gap), c[:t.cellSize])
			t.lower(gap, c.due())
			gap = i
		}
	}
	clear(t.at(gap)[:t.cellSize])
	t.n--
}

// distance is how far probing goes from cell i to cell j.
func (t *table) distance(i, j int) int {
	if j < i {
		return j - i + int(t.slots)
	}
	return j - i
}

// lower notes that cell i expires at due, and returns whether its segment knew
// of nothing as early.
func (t *table) lower(i int, due tick) bool {
	d := &t.dues[i/segment]
	if due >= *d {
		return false
	}
	*d = due
	return true
}

// grow makes room for another key.
func (t *table) grow(cellSize uint32, h hasher) {
	t.cellSize = cellSize
	t.resize(max(leastCells, t.slots+t.slots/5), h)
}

// shrink gives memory back when few cells are in use.
func (t *table) shrink(h hasher) {
	if t.slots > 8*leastCells && t.n < t.slots/8 {
		t.resize(t.slots/4, h)
	}
}

// resize moves everything to a table of so many cells. Keys stand nearly in the
// order of their homes, so that it reads and writes memory in one direction.
func (t *table) resize(slots uint32, h hasher) {
	old := *t
	t.slots, t.n = slots, 0
	t.cells = make([]byte, slots*t.cellSize)
	t.dues = make([]tick, (slots+segment-1)/segment)
	for i := range t.dues {
		t.dues[i] = never
	}
	for i := range int(old.slots) {
		c := old.at(i)
		if c.isEmpty() {
			continue
		}
		j := t.vacant(h.hash(c))
		copy(t.at(j), c[:t.cellSize])
		t.lower(j, c.due())
	}
	h.shard.spots[h.table].set(t)
}
