package algo

import (
	"crypto/sha256"

	"github.com/weirlimit/weir"
)

// The slots machine keeps a run per owner. A run is released by its owner, or
// freed one window after it was last acquired: whoever crashed gives back what
// it held.

// Owner names who holds units: 128 bits of a digest, so that ids of any length
// take the same room and no two meet.
type Owner [16]byte

// OwnerOf returns the owner of a request id.
func OwnerOf(id string) Owner {
	if id == "" {
		return Owner{}
	}
	var buf [weir.MaxIDBytes]byte
	sum := sha256.Sum256(append(buf[:0], id...))
	return Owner(sum[:16])
}

func (s *State) held(owner Owner) int {
	for i := range s.Runs {
		if s.Runs[i].Owner == owner {
			return i
		}
	}
	return -1
}

// acquire gives n units to owner, or renews what owner already holds.
func (s *State) acquire(now weir.Micros, n int64, owner Owner) int64 {
	if k := len(s.Runs); k > 0 {
		now = max(now, s.Runs[k-1].T)
	}
	s.Dirty = true
	if i := s.held(owner); i >= 0 {
		run := s.Runs[i]
		run.T = now
		s.Runs = append(s.Runs[:i], s.Runs[i+1:]...)
		s.Runs = append(s.Runs, run)
		return 0
	}
	s.Runs = append(s.Runs, Run{T: now, N: n, Owner: owner})
	s.Used += n
	return n
}

// release takes back all that owner holds.
func (s *State) release(owner Owner) int64 {
	i := s.held(owner)
	if i < 0 {
		return 0
	}
	n := s.Runs[i].N
	s.Runs = append(s.Runs[:i], s.Runs[i+1:]...)
	s.Used -= n
	s.Dirty = true
	return n
}
