package key

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"github.com/weirlimit/weir"
)

// MaxLiteral is the longest text, in bytes, that a key carries as it is. It
// leaves identities readable in a Redis shell and bounds what a hostile one
// makes a store keep.
const MaxLiteral = 200

// MaxSlot is one more than the largest slot of a hidden partition.
const MaxSlot = 1 << 12

const (
	digestMark  = '#'
	digestBytes = 43 // SHA-256 in base64 without padding
)

// digests is strict: bits beyond the 256 must be zero, or two texts would
// decode to one digest.
var digests = base64.RawURLEncoding.Strict()

// Key is what names one counter. The zero value of Window or Algorithm is not
// valid; any other field may hold any bytes, or none.
type Key struct {
	Partition string // decides the slot; such as the tenant
	// Hidden keeps the partition out of the key: Slot, which is below MaxSlot,
	// takes its place. What tells it from others must then be among Values.
	Hidden bool
	Slot   uint16
	// Shard numbers the sub-counters of one that is split, from 1 to MaxShard; 0
	// for a counter that is not. Each lives in a slot of its own.
	Shard  uint8
	Domain string
	Rule   string
	Values []string // what tells counters of one rule and partition apart
	// Algorithm and Window are those of a valid weir.Limit. TokenBucket is
	// another name of GCRA, and gives the same key.
	Algorithm weir.Algorithm
	Window    weir.Micros
}

// Append appends the encoding of k to dst.
func Append(dst []byte, k *Key) []byte {
	switch {
	case k.Shard > 0 && k.Hidden:
		dst = appendShardSlot(dst, k.Shard, k.Slot)
	case k.Shard > 0:
		dst = AppendShard(dst, k.Shard, k.Partition)
	case k.Hidden:
		dst = AppendSlot(dst, k.Slot)
	default:
		dst = AppendTag(dst, k.Partition)
	}
	return AppendRest(dst, k)
}

// AppendRest appends all of k but its partition: what every counter of a rule
// without values has in common. AppendTag, AppendSlot or AppendShard, and
// AppendRest together are Append.
func AppendRest(dst []byte, k *Key) []byte {
	dst = appendPart(dst, k.Domain)
	dst = appendPart(dst, k.Rule)
	for _, v := range k.Values {
		dst = appendPart(dst, v)
	}
	dst = append(dst, letters[k.Algorithm%weir.Algorithm(len(letters))])
	return appendWindow(dst, k.Window)
}

func appendPart(dst []byte, text string) []byte {
	if len(text) > MaxLiteral {
		return appendDigest(append(dst, digestMark), text)
	}
	dst = strconv.AppendInt(dst, int64(len(text)), 10)
	dst = append(dst, ':')
	return append(dst, text...)
}

// appendDigest hashes text in the room behind dst: converting it to bytes would
// allocate.
func appendDigest(dst []byte, text string) []byte {
	n := len(dst)
	dst = append(dst, text...)
	sum := sha256.Sum256(dst[n:])
	return digests.AppendEncode(dst[:n], sum[:])
}

// letters names the algorithms. They are stored: never change or reuse one.
var letters = [8]byte{
	weir.GCRA:          'g',
	weir.TokenBucket:   'g',
	weir.SlidingWindow: 'w',
	weir.FixedWindow:   'f',
	weir.LeakyBucket:   'l',
	weir.SlidingLog:    't',
	weir.Concurrency:   'c',
}

// appendWindow writes what weir.WindowText does, without a string.
func appendWindow(dst []byte, w weir.Micros) []byte {
	span, unit := weir.Second, byte('s')
	switch {
	case w%weir.Day == 0:
		span, unit = weir.Day, 'd'
	case w%weir.Hour == 0:
		span, unit = weir.Hour, 'h'
	case w%weir.Minute == 0:
		span, unit = weir.Minute, 'm'
	}
	if w != span {
		dst = strconv.AppendInt(dst, int64(w/span), 10)
	}
	return append(dst, unit)
}
