package keytable

import "hash/maphash"

// ID names a key within this process.
type ID struct{ hi, lo uint64 }

// The secrets. They are the process's, so that stages that keep tables of their
// own need one ID between them.
var seedHi, seedLo = maphash.MakeSeed(), maphash.MakeSeed()

// Of returns the ID of a key.
func Of(key string) ID {
	return ID{hi: maphash.String(seedHi, key), lo: maphash.String(seedLo, key)}
}

// Spread returns one of n numbers from 0, the same for the same ID: for tables
// that are cut up by ID.
func (id ID) Spread(n int) int { return int(id.lo >> 32 % uint64(n)) }

// Numbered returns an ID that is the same in every process, for simulations: who
// chooses keys could choose them to collide. Different numbers have different
// IDs, and Spread of them is in turn.
func Numbered(n uint32) ID {
	const odd = 0x9e3779b97f4a7c15 // spreads the bits
	return ID{hi: (uint64(n) + 1) * odd, lo: uint64(n)<<32 | uint64(n)*odd>>32}
}
