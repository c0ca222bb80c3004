package degrade

import "github.com/weirlimit/weir/internal/keytable"

// door stands before a shard that is full: who is met for the first time in a
// while is not let in. A flood of keys that are used once each is then not worth a
// search for somebody to forget, which is most of what learning of them costs, and
// leaves those alone who come again and again.
//
// It errs for one in four at most, who is let in at once.
type door struct {
	met  [64]uint64 // a bit for who was met, of any that have the same
	bits int        // how many are set
}

// doorBits is how many bits are set before all are cleared.
const doorBits = 64 * 64 / 4

func (d *door) admits(id keytable.ID) bool {
	n := id.Spread(64 * len(d.met))
	word, bit := &d.met[n/64], uint64(1)<<(n%64)
	if *word&bit != 0 {
		return true
	}
	*word |= bit
	if d.bits++; d.bits == doorBits {
		*d = door{}
	}
	return false
}
