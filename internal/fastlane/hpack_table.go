package fastlane

// dynamicTable is the dynamic table of a decoder. Names and values lie in an
// arena that is filled from the front; when it is full the living move to
// another one. The bytes of an entry thus stay until the block after next, and
// fields of the current block can refer to them even when they were evicted
// meanwhile. The zero value is an empty table of the size HTTP/2 begins with.
type dynamicTable struct {
	ring   []field // a power of two
	newest int     // index into ring
	n      int
	used   int // as RFC 7541 counts it
	less   int // how much smaller than defaultTable it may be

	changes      uint64 // how often entries came or went
	arena, other []byte
	moved        bool // in this block: other holds bytes that fields refer to
}

// arenaSize is twice what entries can need, so that a move comes after at least
// as many new bytes as it copies.
const arenaSize = 2 * defaultTable

func (t *dynamicTable) begin() { t.moved = false }

// at finds the i-th newest.
func (t *dynamicTable) at(i int) *field {
	if i >= t.n {
		return nil
	}
	return &t.ring[(t.newest-i)&(len(t.ring)-1)]
}

func (t *dynamicTable) resize(size int) {
	t.changes++
	t.less = defaultTable - size
	t.evict(0)
}

// evict makes room for another need bytes.
func (t *dynamicTable) evict(need int) {
	for t.n > 0 && t.used+need > defaultTable-t.less {
		t.used -= t.at(t.n - 1).size()
		t.n--
	}
}

// add copies f into the table. One that is too large empties it.
func (t *dynamicTable) add(f *field) {
	t.changes++
	need := f.size()
	t.evict(need)
	if need > defaultTable-t.less {
		return
	}
	if t.n == len(t.ring) {
		t.grow()
	}
	if len(t.arena)+len(f.name)+len(f.value) > cap(t.arena) {
		t.move()
	}
	t.newest = (t.newest + 1) & (len(t.ring) - 1)
	e := &t.ring[t.newest]
	e.name, e.value = t.hold(f.name), t.hold(f.value)
	e.kind, e.meaning = f.kind, f.meaning
	t.n++
	t.used += need
}

func (t *dynamicTable) hold(b []byte) []byte {
	from := len(t.arena)
	t.arena = append(t.arena, b...)
	return t.arena[from:len(t.arena):len(t.arena)]
}

func (t *dynamicTable) grow() {
	ring := make([]field, max(16, 2*len(t.ring)))
	for i := range t.n {
		ring[t.n-1-i] = *t.at(i)
	}
	t.ring, t.newest = ring, t.n-1
	if t.n == 0 {
		t.newest = len(ring) - 1
	}
}

// move brings the living to the front of the other arena.
func (t *dynamicTable) move() {
	to := t.other
	if to == nil || t.moved {
		to = make([]byte, 0, arenaSize)
	}
	t.arena, t.other, t.moved = to[:0], t.arena, true
	for i := t.n - 1; i >= 0; i-- {
		e := t.at(i)
		e.name, e.value = t.hold(e.name), t.hold(e.value)
	}
}
