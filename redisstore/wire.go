package redisstore

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
)

// encode packs the flight as commit.lua reads it.
func (f *flight) encode() {
	f.sort()
	f.timed = f.isTimed()
	b := append(f.blob[:0], 0)
	if f.timed {
		b[0] = 1
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.blocks)))
	b = binary.BigEndian.AppendUint16(b, uint16(f.general))
	latest := -1
	for i := range f.blocks {
		b, latest = f.appendBlock(b, &f.blocks[i], latest)
	}
	if f.general > 0 {
		b = f.appendGroups(b)
	}
	f.blob = b
}

func (f *flight) appendGroups(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.shared)))
	for _, m := range f.shared {
		b = appendMeter(b, f.meters[m])
	}
	for i := range f.groups {
		if g := &f.groups[i]; !g.own {
			b = f.appendGroup(b, g)
		}
	}
	return b
}

// isTimed tells whether the script is to take its own time, which costs it a
// microsecond: more often where that is little.
func (f *flight) isTimed() bool {
	f.sent++
	return f.sent%16 == 1 || f.size() >= 16 && f.sent%4 == 1
}

// size is how many keys the script reads.
func (f *flight) size() int { return f.keys.len() + f.replays.len() }

// spent is what the script took of Redis's time, of a flight that took so long, as
// far as it was told or can be assumed; 0 when it was not asked. A clock of all of
// Redis's threads may tell more than there was.
func (f *flight) spent(took time.Duration) time.Duration {
	if f.timed && f.script == 0 {
		return time.Duration(f.size()) * assumedKey
	}
	return min(f.script, took)
}

func appendMeter(b []byte, m *weir.Meter) []byte {
	shapes := byte(0)
	if m.Shapes {
		shapes = 1
	}
	b = append(b, shapes, byte(m.Machine))
	b = binary.BigEndian.AppendUint16(b, m.Mark)
	b = append24(b, m.Capacity)
	b = append56(b, m.Whole)
	b = append24(b, m.Rem)
	b = append24(b, m.Den)
	b = append24(b, m.UsedCap)
	b = append56(b, int64(m.Limit.Window))
	b = append24(b, m.RunCap)
	b = binary.BigEndian.AppendUint16(b, uint16(m.MaxRuns))
	return append56(b, int64(m.Grid))
}

// meterBytes is the length of a packed meter.
const meterBytes = 42

// parseMeter reads what appendMeter wrote: enough of a meter to settle with.
func parseMeter(b []byte) *weir.Meter {
	return &weir.Meter{
		Shapes: b[0] == 1, Machine: weir.Machine(b[1]), Mark: uint16(be(b[2:4])), Capacity: be(b[4:7]),
		Whole: be(b[7:14]), Rem: be(b[14:17]), Den: be(b[17:20]), UsedCap: be(b[20:23]),
		Limit:  weir.Limit{Window: weir.Micros(be(b[23:30]))},
		RunCap: be(b[30:33]), MaxRuns: int(be(b[33:35])), Grid: weir.Micros(be(b[35:42])),
	}
}

// plausible tells whether a meter that was read back can be settled with: a
// damaged one must not divide by zero.
func plausible(m *weir.Meter) bool {
	window := m.Limit.Window
	ok := m.Machine <= weir.Slots && m.Capacity >= 1 && m.Capacity <= weir.MaxCount && m.UsedCap >= m.Capacity &&
		m.Den >= 1 && m.Den <= weir.MaxCount && m.Rem < m.Den && m.Whole+m.Rem > 0 && m.Whole <= int64(weir.MaxWindow) &&
		window >= weir.MinWindow && window <= weir.MaxWindow
	if m.Machine >= weir.Runs {
		ok = ok && m.RunCap >= 1 && m.MaxRuns >= 2
	}
	return ok
}

// The kinds of a block's column, added up.
const (
	kindAlways = 1
	kindAgain  = 2 // of the meter of the column before
)

// appendBlock also returns the meter of its last column; latest is that of the
// column before the first.
func (f *flight) appendBlock(b []byte, bl *block, latest int) ([]byte, int) {
	g, counted := &f.groups[bl.head], byte(0)
	if bl.counted {
		counted = 1
	}
	b = binary.BigEndian.AppendUint16(b, uint16(bl.n))
	b = append(b, byte(g.n), counted)
	for j := g.first; j < g.first+g.n; j++ {
		kind, m := byte(0), int(f.meterOf[j])
		if f.charges[j].Mode == weir.Always {
			kind = kindAlways
		}
		if m == latest {
			kind |= kindAgain
		}
		// More than any state can hold is as much as it can hold.
		b = append24(append(b, kind), min(f.charges[j].Cost, weir.MaxUsed))
		if j == g.first && bl.counted {
			b = f.appendCounts(b, bl)
		}
		if m != latest {
			b, latest = appendMeter(b, f.meters[m]), m
		}
	}
	return b, latest
}

func (f *flight) appendCounts(b []byte, bl *block) []byte {
	for at := bl.head; at >= 0; at = f.groups[at].alike {
		b = binary.BigEndian.AppendUint16(b, uint16(f.groups[at].count))
	}
	return b
}

func (f *flight) appendGroup(b []byte, g *group) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(g.count))
	flags := g.flags
	if g.plain {
		flags = flagPlain
	}
	b = append(b, byte(g.n), flags)
	for i := g.first; i < g.first+g.n; i++ {
		c := &f.charges[i]
		b = binary.BigEndian.AppendUint16(b, f.keyOf[i]+1)
		b = binary.BigEndian.AppendUint16(b, f.meterNo[f.meterOf[i]])
		b = append(b, byte(c.Mode), c.Group)
		// More than any state can hold is as much as it can hold.
		b = append24(b, min(c.Cost, weir.MaxUsed))
	}
	if g.flags&flagTwins != 0 {
		for i := g.first; i < g.first+g.n; i++ {
			b = binary.BigEndian.AppendUint16(b, f.twinOf[i])
			b = append(b, byte(f.charges[i].Twinning))
		}
	}
	if g.replay >= 0 {
		b = binary.BigEndian.AppendUint16(b, uint16(f.keys.len()+int(g.replay)+1))
	}
	if g.flags&flagOwner != 0 {
		b = append(b, g.owner[:]...)
	}
	if g.flags&flagTried != 0 {
		b = binary.BigEndian.AppendUint64(b, g.attempt)
	}
	return b
}

func append24(b []byte, v int64) []byte { return append(b, byte(v>>16), byte(v>>8), byte(v)) }

func append56(b []byte, v int64) []byte {
	return append(b, byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

// clockArg is the test clock's instant, or nothing.
func (s *Store) clockArg(args []string) []string {
	if s.opts.clock == nil {
		return args
	}
	return append(args, strconv.FormatInt(int64(s.opts.clock()), 10))
}
