package measure

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// KeyBytes is the length of every key: a digest in hex. It is also a size
// class of Go's allocator, so that no library is charged for rounding.
const KeyBytes = 32

// appendKey appends the i-th key, the same in every run.
func appendKey(dst []byte, i int) []byte {
	var raw [KeyBytes / 2]byte
	rng := rand.NewPCG(uint64(i), 0)
	binary.LittleEndian.PutUint64(raw[:8], rng.Uint64())
	binary.LittleEndian.PutUint64(raw[8:], rng.Uint64())
	return hex.AppendEncode(dst, raw[:])
}

// newKey returns the i-th key in memory of its own.
func newKey(i int) string { return string(appendKey(nil, i)) }

// sequence returns passes over the first n keys, each in a random order of its
// own. The keys lie in memory in the order of their use, as the key of a
// request just parsed does: reading them is not what is measured.
func sequence(n, passes int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	order := make([]int, 0, n*passes)
	for range passes {
		order = append(order, rng.Perm(n)...)
	}
	slab := make([]byte, 0, len(order)*KeyBytes)
	for _, i := range order {
		slab = appendKey(slab, i)
	}
	all := string(slab)
	keys := make([]string, len(order))
	for i := range keys {
		keys[i] = all[i*KeyBytes : (i+1)*KeyBytes]
	}
	return keys
}
