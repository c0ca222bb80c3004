package pbwire

import "errors"

// Type is how a field's value is laid out.
type Type = uint32

// The types.
const (
	Varint  Type = 0
	Fixed64 Type = 1
	Bytes   Type = 2 // texts and messages
	group   Type = 3
	end     Type = 4
	Fixed32 Type = 5
)

const (
	maxNumber      = 1<<29 - 1 // of a field
	maxGroupNumber = 1<<31 - 1 // of a field in a group that is skipped: protobuf takes these
	maxGroups      = 64        // within each other
)

// ErrMalformed is what is wrong with a message that is none.
var ErrMalformed = errors.New("cannot parse invalid wire-format data")

// Reader walks the fields of a message:
//
//	r := pbwire.Read(text)
//	for r.Next() {
//		switch r.Tag {
//		case 1<<3 | pbwire.Bytes:
//			name = r.Text()
//		default:
//			r.Skip()
//		}
//	}
//	err := r.Err()
//
// Each field that Next finds is read or skipped, once. A known number with
// another type than its own is not known: protobuf skips it too.
type Reader struct {
	Tag uint32 // of the field at hand: its number << 3 | its type

	text string
	at   int // before what is not yet read; beyond the text once it is malformed
}

// Read returns a reader of a message.
func Read(text string) Reader { return Reader{text: text} }

// Next goes to the next field. It returns false at the end, and where the
// message is malformed.
func (r *Reader) Next() bool {
	if r.at >= len(r.text) {
		return false
	}
	if b := r.text[r.at]; b < 0x80 && b >= 1<<3 && b&7 < byte(end) { // nearly always
		r.at++
		r.Tag = uint32(b)
		return true
	}
	tag := r.longVarint()
	if number := tag >> 3; number == 0 || number > maxNumber || tag&7 == uint64(end) {
		r.fail()
	}
	r.Tag = uint32(tag)
	return r.at <= len(r.text)
}

// Err returns nil, or ErrMalformed.
func (r *Reader) Err() error {
	if r.at > len(r.text) {
		return ErrMalformed
	}
	return nil
}

// fail makes the message malformed. It does not run on: all that reads looks at
// what is left, which is nothing.
func (r *Reader) fail() { r.text, r.at = "", 1 }

// Varint reads a number.
func (r *Reader) Varint() uint64 {
	if i := r.at; i < len(r.text) && r.text[i] < 0x80 {
		r.at++
		return uint64(r.text[i])
	}
	return r.longVarint()
}

// longVarint and longText are kept out of what is called for nearly every field.
//
//go:noinline
func (r *Reader) longVarint() uint64 {
	v, shift := uint64(0), 0
	for i := r.at; i < len(r.text); i++ {
		b := r.text[i]
		if shift == 63 && b > 1 {
			break // more than 64 bits
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			r.at = i + 1
			return v
		}
		shift += 7
	}
	r.fail()
	return 0
}

// Text reads a text, or the bytes of a message: a part of the reader's own text.
func (r *Reader) Text() string {
	if at := r.at; at < len(r.text) {
		if b := r.text[at]; b < 0x80 { // nearly always
			if from, to := at+1, at+1+int(b); to <= len(r.text) {
				r.at = to
				return r.text[from:to]
			}
		}
	}
	return r.longText()
}

//go:noinline
func (r *Reader) longText() string {
	n := r.Varint()
	if r.at > len(r.text) || n > uint64(len(r.text)-r.at) {
		r.fail()
		return ""
	}
	from := r.at
	r.at += int(n)
	return r.text[from:r.at]
}

// Within takes the outcome of reading a message that was a field of this one: it
// is malformed if that was.
func (r *Reader) Within(inner *Reader) {
	if inner.at > len(inner.text) {
		r.fail()
	}
}

// Skip goes past the field at hand.
func (r *Reader) Skip() { r.skip(uint64(r.Tag), maxGroups) }

func (r *Reader) skip(tag uint64, groups int) {
	switch Type(tag & 7) {
	case Varint:
		r.Varint()
	case Fixed32:
		r.forward(4)
	case Fixed64:
		r.forward(8)
	case Bytes:
		r.Text()
	case group:
		r.skipGroup(tag>>3, groups)
	default:
		r.fail()
	}
}

func (r *Reader) forward(n int) {
	if r.at+n > len(r.text) {
		r.fail()
		return
	}
	r.at += n
}

// skipGroup goes past the fields of a group and its end, which has its number.
func (r *Reader) skipGroup(number uint64, groups int) {
	if groups == 0 {
		r.fail()
	}
	for r.at < len(r.text) {
		tag := r.Varint()
		inner := tag >> 3
		switch {
		case r.at > len(r.text):
			return
		case inner == 0 || inner > maxGroupNumber:
			r.fail()
			return
		case Type(tag&7) == end:
			if inner != number {
				r.fail()
			}
			return
		}
		r.skip(tag, groups-1)
	}
	r.fail() // it has no end
}
