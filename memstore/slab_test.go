package memstore

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestClassesFitAndWasteLittle(t *testing.T) {
	last := 0
	for n := 1; n <= 32<<10; n++ {
		class := classFor(n)
		size := classSize(class)
		switch {
		case int(class) >= classes:
			t.Fatalf("%d bytes have class %d of %d", n, class, classes)
		case size < n:
			t.Fatalf("%d bytes have class %d of %d bytes", n, class, size)
		case size%unit != 0 || size < last:
			t.Fatalf("class %d has %d bytes after %d", class, size, last)
		case size-n >= max(unit, (n+7)/8+unit):
			t.Fatalf("%d bytes waste %d", n, size-n)
		case class > 0 && classSize(class-1) >= n:
			t.Fatalf("%d bytes have class %d although %d fits", n, class, class-1)
		}
		last = size
	}
}

// block is what a test keeps in a block: its content tells it from all others.
type block struct {
	ref  uint32
	want []byte
}

// slabModel is a slab and what should be in it.
type slabModel struct {
	slab   slab
	blocks []block
	serial byte
}

func (m *slabModel) alloc(n int) {
	m.serial++
	b := block{ref: m.slab.alloc(n), want: bytes.Repeat([]byte{m.serial}, n)}
	copy(m.slab.at(b.ref, n), b.want)
	m.blocks = append(m.blocks, b)
}

func (m *slabModel) free(i int) {
	m.slab.free(m.blocks[i].ref)
	last := len(m.blocks) - 1
	m.blocks[i] = m.blocks[last]
	m.blocks = m.blocks[:last]
}

func (m *slabModel) check(t *testing.T) {
	t.Helper()
	held := 0
	for _, l := range m.slab.lists {
		held += int(l.held)
	}
	if held != len(m.blocks) {
		t.Fatalf("%d blocks are held, want %d", held, len(m.blocks))
	}
	for _, b := range m.blocks {
		if b.ref == 0 {
			t.Fatal("a reference is 0")
		}
		if got := m.slab.at(b.ref, len(b.want)); !bytes.Equal(got, b.want) {
			t.Fatalf("block %x of %d bytes was overwritten", b.ref, len(b.want))
		}
	}
}

func (m *slabModel) pages() int {
	n := 0
	for _, b := range m.slab.bufs {
		if b != nil {
			n++
		}
	}
	return n
}

func TestSlabAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var m slabModel
	for step := range 20_000 {
		grow := step/2000%2 == 0
		if rng.IntN(10) < 7 == grow {
			m.alloc(1 + rng.IntN(1<<(3+rng.IntN(12))))
		} else if len(m.blocks) > 0 {
			m.free(rng.IntN(len(m.blocks)))
		}
		if step%500 == 0 {
			m.check(t)
		}
	}
	for len(m.blocks) > 0 {
		m.free(rng.IntN(len(m.blocks)))
	}
	m.check(t)
	if n := m.pages(); n != 0 {
		t.Errorf("an empty slab keeps %d pages", n)
	}
}

func TestSlabGivesPagesToOtherSizes(t *testing.T) {
	var m slabModel
	fill := func(size int) int {
		for range 1000 {
			m.alloc(size)
		}
		m.check(t)
		numbers := len(m.slab.bufs)
		for len(m.blocks) > 0 {
			m.free(0)
		}
		return numbers
	}
	first := fill(40)
	if second := fill(48); second > first+2 {
		t.Errorf("1000 blocks of 48 bytes took page numbers up to %d, those of 40 up to %d", second, first)
	}
}

func FuzzSlab(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 4, 0x81, 0xff, 0x80})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var m slabModel
		for _, op := range ops {
			switch {
			case op < 0x80:
				m.alloc(1 + int(op)*int(op))
			case len(m.blocks) > 0:
				m.free(int(op&0x7f) % len(m.blocks))
			}
		}
		m.check(t)
	})
}
