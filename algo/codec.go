package algo

import (
	"encoding/binary"
	"errors"

	"github.com/weirlimit/weir"
)

// The stored form of a state, big-endian, as it is in Redis:
//
//	mark 2  used 3  at 7             Bucket with no fraction, Window, one run
//	mark 2  used 3  at 7  frac 3     Bucket
//	mark 2  used 3  (t 7 n 3)...     Runs, of two and more
//	mark 2  used 3  (t 7 n 3 owner 16)...  Slots
//
// The machine is in the mark's two high bits. Twelve bytes is the most that
// Redis keeps within a 32-byte allocation, and once it was written over, most
// often in the same cache line as the object that leads there: nearly all that
// is stored is of this size. Seven bytes hold an instant until the year 4253.

const (
	headBytes  = 5
	shortBytes = 12 // head and an instant: most states
	fracBytes  = 15
	runBytes   = 10
	slotBytes  = 26
)

// ErrCorrupt is returned for bytes that no AppendState wrote.
var ErrCorrupt = errors.New("not a stored state")

// AppendState appends the stored form of a state that is not empty.
func AppendState(dst []byte, m *weir.Meter, s *State) []byte {
	dst = binary.BigEndian.AppendUint16(dst, s.Mark)
	dst = append24(dst, s.Used)
	switch m.Machine {
	case weir.Bucket, weir.Window:
		dst = append56(dst, s.At)
		if s.Frac > 0 {
			dst = append24(dst, s.Frac)
		}
		return dst
	}
	if m.Machine == weir.Runs && len(s.Runs) == 1 {
		return append56(dst, s.Runs[0].T)
	}
	for i := range s.Runs {
		dst = append56(dst, s.Runs[i].T)
		dst = append24(dst, s.Runs[i].N)
		if m.Machine == weir.Slots {
			dst = append(dst, s.Runs[i].Owner[:]...)
		}
	}
	return dst
}

// ParseState reads what AppendState wrote into s, reusing s.Runs. A state of
// another machine is read as empty, and so is one that is corrupt, which is
// also reported.
func ParseState(b []byte, m *weir.Meter, s *State) error {
	s.Used, s.At, s.Frac, s.Mark, s.Dirty, s.Runs = 0, 0, 0, 0, false, s.Runs[:0]
	if len(b) < shortBytes {
		return ErrCorrupt
	}
	mark := binary.BigEndian.Uint16(b)
	machine := weir.Machine(mark >> 14)
	if !wellFormed(machine, len(b)) {
		return ErrCorrupt
	}
	if machine != m.Machine {
		return nil
	}
	s.Mark, s.Used = mark, get24(b[2:])
	switch machine {
	case weir.Bucket, weir.Window:
		s.At = get56(b[5:])
		if len(b) == fracBytes {
			s.Frac = get24(b[12:])
		}
		return nil
	}
	if len(b) == shortBytes {
		if s.Used == 0 {
			s.clear()
			return ErrCorrupt
		}
		s.Runs = append(s.Runs, Run{T: get56(b[5:]), N: s.Used})
		return nil
	}
	return s.parseRuns(b[headBytes:], machine == weir.Slots)
}

func (s *State) parseRuns(b []byte, owned bool) error {
	size := runBytes
	if owned {
		size = slotBytes
	}
	sum, last := int64(0), weir.Micros(0)
	for ; len(b) > 0; b = b[size:] {
		r := Run{T: get56(b), N: get24(b[7:])}
		if r.N == 0 || r.T < last {
			s.clear()
			return ErrCorrupt
		}
		last = r.T
		if owned {
			r.Owner = Owner(b[runBytes:slotBytes])
		}
		sum += r.N
		s.Runs = append(s.Runs, r)
	}
	if sum != s.Used {
		s.clear()
		return ErrCorrupt
	}
	return nil
}

func wellFormed(machine weir.Machine, n int) bool {
	switch machine {
	case weir.Bucket:
		return n == shortBytes || n == fracBytes
	case weir.Window:
		return n == shortBytes
	case weir.Runs:
		return n == shortBytes || n > headBytes+runBytes && (n-headBytes)%runBytes == 0
	default:
		return n > headBytes && (n-headBytes)%slotBytes == 0
	}
}

func append24(b []byte, v int64) []byte { return append(b, byte(v>>16), byte(v>>8), byte(v)) }

func append56(b []byte, v weir.Micros) []byte {
	return append(b, byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

func get24(b []byte) int64 { return int64(b[0])<<16 | int64(b[1])<<8 | int64(b[2]) }

func get56(b []byte) weir.Micros {
	return weir.Micros(b[0])<<48 | weir.Micros(b[1])<<40 | weir.Micros(b[2])<<32 |
		weir.Micros(b[3])<<24 | weir.Micros(b[4])<<16 | weir.Micros(b[5])<<8 | weir.Micros(b[6])
}
