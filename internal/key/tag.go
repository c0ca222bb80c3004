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
	if strings.IndexByte(text, escape) < 0 && strings.IndexByte(text, '}') < 0 {
		return append(dst, text...) // as good as always
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
