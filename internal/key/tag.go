package key

import "strings"

// The tag's escapes. A '%' in a tag is followed by one of these, by '#' and a
// digest, by '~' and a slot, or by nothing when it stands for an empty partition.
const (
	slotMark   = '~'
	slotDigits = 3

	escape        = '%'
	escapedEscape = "%25"
	escapedBrace  = "%7D"
)

// AppendTag appends the partition between braces, as Redis Cluster's hash tag.
func AppendTag(dst []byte, partition string) []byte {
	dst = append(dst, '{')
	switch {
	case partition == "":
		dst = append(dst, escape)
	case len(partition) > MaxLiteral:
		dst = appendDigest(append(dst, escape, digestMark), partition)
	default:
		dst = appendEscaped(dst, partition)
	}
	return append(dst, '}')
}

// AppendSlot appends the tag of a partition that is not to be seen: the number of
// the slot that it shares with others, which is below MaxSlot.
func AppendSlot(dst []byte, slot uint16) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '{', escape, slotMark, digits[slot>>8&15], digits[slot>>4&15], digits[slot&15], '}')
}

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
