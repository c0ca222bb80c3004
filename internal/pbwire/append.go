package pbwire

import "math/bits"

// AppendVarint appends a number, without a tag.
func AppendVarint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendTag(b []byte, number uint32, t Type) []byte {
	return AppendVarint(b, uint64(number<<3|t))
}

// AppendUint appends a field of a number. 0 is left out.
func AppendUint(b []byte, number uint32, v uint64) []byte {
	if v == 0 {
		return b
	}
	return AppendVarint(appendTag(b, number, Varint), v)
}

// AppendInt appends a field of an int32, an int64 or an enum. 0 is left out.
func AppendInt(b []byte, number uint32, v int64) []byte { return AppendUint(b, number, uint64(v)) }

// AppendBool appends a field that is true; false is left out.
func AppendBool(b []byte, number uint32, v bool) []byte {
	if !v {
		return b
	}
	return append(appendTag(b, number, Varint), 1)
}

// AppendText appends a field of a text. An empty one is left out.
func AppendText(b []byte, number uint32, text string) []byte {
	if text == "" {
		return b
	}
	b = AppendVarint(appendTag(b, number, Bytes), uint64(len(text)))
	return append(b, text...)
}

// Open begins a field of a message or of a text: what is appended until Close is
// its content. It returns where that begins.
func Open(b []byte, number uint32) ([]byte, int) {
	b = append(appendTag(b, number, Bytes), 0) // a place for the length
	return b, len(b)
}

// Close ends a field whose content began at from. Few have 128 bytes or more:
// only theirs are moved, to make room for the length.
func Close(b []byte, from int) []byte {
	n := len(b) - from
	if n < 0x80 {
		b[from-1] = byte(n)
		return b
	}
	more := (bits.Len(uint(n)) - 1) / 7 // bytes of the length besides the first
	b = append(b, zeros[:more]...)
	copy(b[from+more:], b[from:from+n])
	AppendVarint(b[:from-1], uint64(n))
	return b
}

var zeros [10]byte
