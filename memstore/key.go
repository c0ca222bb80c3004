package memstore

import (
	"crypto/sha256"
	"hash/maphash"
	"unsafe"
)

// A key is stored in its cell if it is short, in the slab if it is not, and if
// it is longer than that as its digest, marked by the size 0, which no key has.
const (
	maxInline = 80
	maxStored = 255
)

// digest has room for what stands in for a long key.
type digest [sha256.Size]byte

// key is a caller's key in the form in which it is looked up and stored. It
// refers to the caller's memory and is not kept.
type key struct {
	text string // the key, or its digest
	hash uint64
	size uint8 // the key's length, 0 for a digest
}

// makeKey hashes a key with the process's own seed: who does not know it cannot
// choose keys that meet. buf must live as long as the result.
func makeKey(seed maphash.Seed, text string, buf *digest) key {
	if len(text) > maxStored {
		return digestKey(seed, text, buf)
	}
	return key{text: text, hash: maphash.String(seed, text), size: uint8(len(text))}
}

func digestKey(seed maphash.Seed, text string, buf *digest) key {
	// The view lives for this call only; Sum256 does not keep or change it.
	*buf = sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text)))
	text = unsafe.String(&buf[0], len(buf))
	return key{text: text, hash: maphash.String(seed, text)}
}

// The bits of a hash are used once: the highest choose the shard, the lowest 32
// the cell, and 16 between them are the tag, which tells most keys of a table
// apart before their bytes are compared.

// label is the tag and the size, as a cell keeps them.
func (k *key) label() uint64 { return k.hash>>24&0xffff00 | uint64(k.size) }

// table is the number of the table that a key of this size belongs to.
func (k *key) table() int { return tableOf(len(k.text)) }

func tableOf(size int) int {
	if size <= maxInline {
		return (size + 7) / 8
	}
	return spilled
}
