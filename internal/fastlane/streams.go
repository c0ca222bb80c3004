package fastlane

// streams finds the open streams of a connection by their ids: an open-addressed
// table with linear probing. Ids count up by two, so that neighbours rarely
// meet. The zero value is empty.
type streams struct {
	slots []streamSlot // a power of two, at least twice n
	n     int
}

type streamSlot struct {
	id   uint32 // 0: free
	call *Call
}

func (t *streams) get(id uint32) *Call {
	if t.n == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := id >> 1 & mask; ; i = (i + 1) & mask {
		switch s := &t.slots[i]; s.id {
		case id:
			return s.call
		case 0:
			return nil
		}
	}
}

// put adds a stream that is not there.
func (t *streams) put(id uint32, c *Call) {
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]streamSlot, max(16, 2*len(old)))
		for _, s := range old {
			if s.id != 0 {
				t.insert(s)
			}
		}
	}
	t.insert(streamSlot{id, c})
	t.n++
}

func (t *streams) insert(s streamSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.id >> 1 & mask
	for t.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// remove takes a stream out and closes the gap: those that were pushed past it
// by linear probing move up, so that there are no tombstones.
func (t *streams) remove(id uint32) {
	if t.n == 0 {
		return
	}
	mask := uint32(len(t.slots) - 1)
	i := id >> 1 & mask
	for t.slots[i].id != id {
		if t.slots[i].id == 0 {
			return
		}
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		s := t.slots[j]
		if s.id == 0 {
			break
		}
		// s may fill the gap if its own place is not between the gap and j.
		if home := s.id >> 1 & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i] = s
			i = j
		}
	}
	t.slots[i] = streamSlot{}
	t.n--
}

// each calls f for every stream. f may not change the table.
func (t *streams) each(f func(*Call)) {
	for _, s := range t.slots {
		if s.id != 0 {
			f(s.call)
		}
	}
}
