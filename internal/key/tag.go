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

// AppendTagged is AppendTag and then rest, written by AppendRest before.
func AppendTagged(dst []byte, partition, rest string) []byte {
	from, size := len(dst), len(partition)+len(rest)+len("{}")
	if partition == "" || len(partition) > MaxLiteral || size > cap(dst)-from || !isPlain(partition) {
		return append(AppendTag(dst, partition), rest...)
	}
	dst = dst[:from+size]
	to := dst[from:]
	to[0] = '{'
	to = to[1+copy(to[1:], partition):]
	to[0] = '}'
	copy(to[1:], rest)
	return dst
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
// at together, the last eight first: what is left in the end was among them.
func isPlain(text string) bool {
	if len(text) >= 8 {
		if !arePlain(eight(text[len(text)-8:])) {
			return false
		}
		for ; len(text) > 8; text = text[8:] {
			if !arePlain(eight(text)) {
				return false
			}
		}
		return true
	}
	for i := range len(text) {
		if text[i] == escape || text[i] == '}' {
			return false
		}
	}
	return true
}

// arePlain is isPlain for eight bytes. One is 0 in x^y where x has that of y, and
// only there does subtracting 1 from each borrow into the top bit, that is not set
// already.
func arePlain(x uint64) bool {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	a, b := x^escape*ones, x^'}'*ones
	return ((a-ones)&^a|(b-ones)&^b)&tops == 0
}

// eight are the first eight bytes as a number.
func eight(text string) uint64 {
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
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
