package memstore

// index finds references by hash: open addressing with linear probing. A slot
// is a 32-bit tag above a 32-bit reference, and 0 when empty; no reference is 0.
//
// At most three quarters of the slots are in use.
type index struct {
	slots []uint64
	n     int // slots in use
}

const leastSlots = 16

func home(tag uint32, slots int) int { return int(uint64(tag) * uint64(slots) >> 32) }

func slotOf(tag, ref uint32) uint64 { return uint64(tag)<<32 | uint64(ref) }

// full tells whether another reference needs more slots.
func (x *index) full() bool { return (x.n+1)*4 > len(x.slots)*3 }

// insert adds a reference; x is not full.
func (x *index) insert(tag, ref uint32) {
	i := home(tag, len(x.slots))
	for x.slots[i] != 0 {
		i = x.after(i)
	}
	x.slots[i] = slotOf(tag, ref)
	x.n++
}

// position returns the slot of a reference, or -1.
func (x *index) position(tag, ref uint32) int {
	if x.n == 0 {
		return -1
	}
	want := slotOf(tag, ref)
	for i := home(tag, len(x.slots)); x.slots[i] != 0; i = x.after(i) {
		if x.slots[i] == want {
			return i
		}
	}
	return -1
}

// remove takes a reference out and closes the gap: a tombstone would make every
// later search longer. What follows moves back unless it would pass its home.
func (x *index) remove(tag, ref uint32) bool {
	gap := x.position(tag, ref)
	if gap < 0 {
		return false
	}
	for i := x.after(gap); x.slots[i] != 0; i = x.after(i) {
		h := home(uint32(x.slots[i]>>32), len(x.slots))
		if x.distance(h, i) >= x.distance(gap, i) {
			x.slots[gap] = x.slots[i]
			gap = i
		}
	}
	x.slots[gap] = 0
	x.n--
	return true
}

func (x *index) after(i int) int {
	if i++; i == len(x.slots) {
		return 0
	}
	return i
}

// distance is how far probing goes from slot i to slot j.
func (x *index) distance(i, j int) int {
	if j < i {
		return j - i + len(x.slots)
	}
	return j - i
}

// grow makes room for another reference.
func (x *index) grow() { x.resize(max(leastSlots, 2*len(x.slots))) }

func (x *index) resize(size int) {
	old := x.slots
	x.slots, x.n = make([]uint64, size), 0
	for _, slot := range old {
		if slot != 0 {
			x.insert(uint32(slot>>32), uint32(slot))
		}
	}
}
