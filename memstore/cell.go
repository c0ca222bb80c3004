package memstore

import (
	"encoding/binary"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// cell is a place in a table, little-endian:
//
//	 0  at 8                        Bucket, Window: algo.State.At; Runs: the date of the only one
//	    reference 4  runs 2  -      Runs, Slots: the block of runs
//	 8  used 3  frac 3  mark 2      the same of algo.State; used is 0 in an empty cell,
//	                                frac of Runs 1 where there is only one, which needs no block
//	16  due 4  share 1  size 1  tag 2
//	24  key, or in the table of spilled keys a reference to it
//
// This is not algo's stored form: that one is made small for a network, this
// one to be read with few instructions.
type cell []byte

const headBytes = 24

func (c cell) word(i int) uint64       { return binary.LittleEndian.Uint64(c[8*i:]) }
func (c cell) setWord(i int, v uint64) { binary.LittleEndian.PutUint64(c[8*i:], v) }

func (c cell) isEmpty() bool         { return c.word(1)&0xffffff == 0 }
func (c cell) machine() weir.Machine { return weir.Machine(c.word(1) >> 62) }
func (c cell) due() tick             { return tick(c.word(2)) }
func (c cell) share() uint8          { return uint8(c.word(2) >> 32) }
func (c cell) size() uint8           { return uint8(c.word(2) >> 40) }

// label is size and tag: what tells most keys apart.
func (c cell) label() uint64 { return c.word(2) >> 40 }

// spilled refers to the key, in the table of those.
func (c cell) spilled() uint32 { return uint32(c.word(3)) }

// hasRuns tells whether the cell refers to a block of runs. An empty one does
// not.
func (c cell) hasRuns() bool { return c.machine() >= weir.Runs && !c.hasRun() }

// hasRun tells whether the cell holds the only run: its units are all that are
// in use.
func (c cell) hasRun() bool { return c.word(1)>>24&0xffffff == onlyRun && c.machine() == weir.Runs }

// onlyRun is the frac of such a cell.
const onlyRun = 1

// runs returns where the runs are and how many.
func (c cell) runs() (ref uint32, n int) {
	w := c.word(0)
	return uint32(w), int(uint16(w >> 32))
}

// load reads what a cell holds of a state.
func (c cell) load(st *algo.State) {
	w := c.word(1)
	st.At = weir.Micros(c.word(0))
	st.Used, st.Frac, st.Mark = int64(w&0xffffff), int64(w>>24&0xffffff), uint16(w>>48)
}

// save writes all but the key. first and frac are what the state's machine keeps
// there.
func (c cell) save(st *algo.State, first, frac uint64, due tick, share uint8, label uint64) {
	c.setWord(0, first)
	c.setWord(1, uint64(st.Used)|frac<<24|uint64(st.Mark)<<48)
	c.setWord(2, uint64(due)|uint64(share)<<32|label<<40)
}
