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
