package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// MaxValueBytes is the longest value of a dimension that a checker is asked
// about, 4 KiB; a server takes no longer ones.
const MaxValueBytes = 4 << 10

const (
	digestMark = "sha256:"
	// keptBytes is what is left of either end of a longer value, 2012 bytes.
	keptBytes = (MaxValueBytes - len(digestMark) - 2*sha256.Size) / 2
)

// Bounded returns a value, or what stands for one of more than MaxValueBytes:
// its first and last 2012 bytes, and between them sha256: and the digest of the
// whole in hexadecimal. Who makes a value long is then neither refused for it,
// nor counted with others who do, nor out of reach of a policy's pattern such as
// /search/*, which a digest alone would not match.
func Bounded(value string) string {
	if len(value) <= MaxValueBytes {
		return value
	}
	head, tail := keptBytes, len(value)-keptBytes
	for head > 0 && !utf8.RuneStart(value[head]) {
		head--
	}
	for tail < len(value) && !utf8.RuneStart(value[tail]) {
		tail++
	}
	sum := sha256.Sum256([]byte(value))
	return value[:head] + digestMark + hex.EncodeToString(sum[:]) + value[tail:]
}
