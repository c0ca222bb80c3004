package memstore

import "math/bits"

// slab holds what does not fit a cell: long keys, and runs. It is made of pages
// of equal blocks; a reference is a page's number above the block's offset in
// units of 8 bytes. A page whose last block goes is released, so that memory
// that short blocks took can serve long ones.
type slab struct {
	bufs  [][]byte // by page; nil when released. Page 0 is not used: no reference is 0
	pages []page
	spare []uint32 // numbers of released pages
	lists []list   // by class; made when first used, for many shards need none
}

// list is what there is of one class.
type list struct {
	open uint32 // the first page with room
	held uint32 // blocks in use
}

// page is what there is to know of a page besides its blocks.
type page struct {
	prev, next uint32 // neighbours in the list of its class's pages with room
	live       uint16 // blocks in use
	made       uint16 // blocks handed out at least once; those behind are untouched
	room       uint16 // blocks there can be
	free       uint16 // the first free block's offset in units, plus 1
	class      uint8
}

const (
	unit     = 8  // blocks are whole units
	pageBits = 11 // bits of a reference below the page's number

	// Pages are an eighth of what their class holds, within these bounds: a
	// page with room costs little when there are few blocks or many sizes.
	leastPage = 1 << 10
	mostPage  = 1 << 14
)

func refOf(page uint32, offset int) uint32 { return page<<pageBits | uint32(offset/unit) }
func pageOf(ref uint32) uint32             { return ref >> pageBits }
func offsetOf(ref uint32) int              { return int(ref&(1<<pageBits-1)) * unit }

// at returns n bytes of a block.
func (s *slab) at(ref uint32, n int) []byte {
	offset := offsetOf(ref)
	return s.bufs[pageOf(ref)][offset : offset+n]
}

// Classes are the sizes of blocks: steps of 8 up to 64 bytes, from there 8 steps
// each time the size doubles, so that at most an eighth is unused.
const classes = 8 + 8*9 // up to 32 KiB; 1,000 slots are 28,000 bytes

// classFor is the class of blocks of at least n bytes, n > 0.
func classFor(n int) uint8 {
	if n <= 64 {
		return uint8((n+7)/8 - 1)
	}
	shift := bits.Len(uint(n-1)) - 4 // (n-1)>>shift is 8 to 15
	return uint8(8*(shift-2) + (n-1)>>shift - 8)
}

// classSize is the size of a class's blocks.
func classSize(class uint8) int {
	if class < 8 {
		return (int(class) + 1) * unit
	}
	return int(class%8+9) << (class/8 + 2)
}

// sizeAt is the size of the block.
func (s *slab) sizeAt(ref uint32) int { return classSize(s.pages[pageOf(ref)].class) }

// alloc returns a block of at least n bytes. Its content is whatever was there.
func (s *slab) alloc(n int) uint32 {
	if s.lists == nil {
		s.lists = make([]list, classes)
	}
	class := classFor(n)
	at := s.lists[class].open
	if at == 0 {
		at = s.addPage(class)
	}
	p := &s.pages[at]
	var offset int
	if p.free > 0 {
		offset = int(p.free-1) * unit
		b := s.bufs[at][offset:]
		p.free = uint16(b[0]) | uint16(b[1])<<8
	} else {
		offset = int(p.made) * classSize(class)
		p.made++
	}
	p.live++
	s.lists[class].held++
	if p.live == p.room {
		s.close(at)
	}
	return refOf(at, offset)
}

// free gives a block back.
func (s *slab) free(ref uint32) {
	at := pageOf(ref)
	p := &s.pages[at]
	if p.live == p.room {
		s.reopen(at)
	}
	b := s.at(ref, 2)
	b[0], b[1] = byte(p.free), byte(p.free>>8)
	p.free = uint16(offsetOf(ref)/unit) + 1
	p.live--
	s.lists[p.class].held--
	if p.live == 0 {
		s.dropPage(at)
	}
}

func (s *slab) addPage(class uint8) uint32 {
	size := classSize(class)
	want := min(max(int(s.lists[class].held)*size/8, leastPage), mostPage)
	room := max(1, floorPowerOfTwo(want)/size)
	var at uint32
	if k := len(s.spare); k > 0 {
		at = s.spare[k-1]
		s.spare = s.spare[:k-1]
	} else {
		if len(s.pages) == 0 {
			s.pages, s.bufs = append(s.pages, page{}), append(s.bufs, nil)
		}
		at = uint32(len(s.pages))
		s.pages, s.bufs = append(s.pages, page{}), append(s.bufs, nil)
	}
	s.pages[at] = page{room: uint16(room), class: class}
	s.bufs[at] = make([]byte, room*size)
	s.reopen(at)
	return at
}

func (s *slab) dropPage(at uint32) {
	s.close(at)
	s.bufs[at] = nil
	s.spare = append(s.spare, at)
}

// reopen puts a page on its class's list of pages with room.
func (s *slab) reopen(at uint32) {
	p := &s.pages[at]
	p.prev, p.next = 0, s.lists[p.class].open
	if p.next != 0 {
		s.pages[p.next].prev = at
	}
	s.lists[p.class].open = at
}

// close takes a page off that list.
func (s *slab) close(at uint32) {
	p := &s.pages[at]
	if p.prev != 0 {
		s.pages[p.prev].next = p.next
	} else {
		s.lists[p.class].open = p.next
	}
	if p.next != 0 {
		s.pages[p.next].prev = p.prev
	}
	p.prev, p.next = 0, 0
}
