package key

import "strings"

// The tag's escapes. A '%' in a tag is followed by one of these, by '#' and a
// digest, by '~' and a slot, by '!' and a shard, or by nothing when it stands for an empty
// partition.
const (
	slotMark   = '~'
	slotDigits = 3

	escape        = '%'
	escapedEscape = "%25"
	escapedBrace  = "%7D"
)

// AppendTag appends the partition between braces, as Redis Cluster's hash tag.
func AppendTag(dst []byte, partition string) []byte {
	if partition != "" && len(partition) <= MaxLiteral && isPlain(partition) { // as good as always
		return append(append(append(dst, '{'), partition...), '}')
	}
	return append(appendPartition(append(dst, '{'), partition), '}')
}

func appendPartition(dst []byte, partition string) []byte {
	switch {
	case partition == "":
		return append(dst, escape)
	case len(partition) > MaxLiteral:
		return appendDigest(append(dst, escape, digestMark), partition)
	default:
		return appendEscaped(dst, partition)
	}
}

// AppendSlot appends the tag of a partition that is not to be seen: the number of
// the slot that it shares with others, which is below MaxSlot.
func AppendSlot(dst []byte, slot uint16) []byte {
	return append(appendSlotNumber(append(dst, '{'), slot), '}')
}

func appendSlotNumber(dst []byte, slot uint16) []byte {
	return append(dst, escape, slotMark, hexDigits[slot>>8&15], hexDigits[slot>>4&15], hexDigits[slot&15])
}

const hexDigits = "0123456789abcdef"

func appendEscaped(dst []byte, text string) []byte {
	if isPlain(text) {
		return append(dst, text...)
	}
	for i := range len(text) {
		switch text[i] {
		case escape:
			dst = append(dst, escapedEscape...)
		case '}':
			dst = append(dst, escapedBrace...)
		default:
			dst = append(dst, text[i])
		}
	}
	return dst
}

// isPlain tells whether nothing in text needs an escape. Eight bytes are looked
// at together: a byte is 0 in x^y where x has that of y, and only there does
// subtracting 1 from each borrow into the top bit, that is not set already.
func isPlain(text string) bool {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	for len(text) >= 8 {
		x := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		a, b := x^escape*ones, x^'}'*ones
		if ((a-ones)&^a|(b-ones)&^b)&tops != 0 {
			return false
		}
		text = text[8:]
	}
	for i := range len(text) {
		if text[i] == escape || text[i] == '}' {
			return false
		}
	}
	return true
}

// Tag returns the part of a key that decides its slot, by Redis's rule: what is
// between the first '{' and the next '}', or the whole key when there is no
// such pair or nothing between it.
func Tag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return key
	}
	tag, _, ok := strings.Cut(rest, "}")
	if !ok || tag == "" {
		return key
	}
	return tag
}
