package wire

import (
	"errors"
	"unicode/utf8"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/pbwire"
)

// The fields of CheckRequest and of Dimension.
const (
	tagDomain      = 1<<3 | pbwire.Bytes
	tagPolicy      = 2<<3 | pbwire.Bytes
	tagDimensions  = 3<<3 | pbwire.Bytes
	tagCost        = 4<<3 | pbwire.Varint
	tagRequestID   = 5<<3 | pbwire.Bytes
	tagNumber      = 6<<3 | pbwire.Varint
	tagMode        = 7<<3 | pbwire.Varint
	tagTimeout     = 8<<3 | pbwire.Varint
	tagWantCharges = 16<<3 | pbwire.Varint

	tagName  = 1<<3 | pbwire.Bytes
	tagValue = 2<<3 | pbwire.Bytes
)

var errUTF8 = errors.New("string field contains invalid UTF-8")

// Scanned is the memory of one check on its way in. It is reused.
type Scanned struct {
	// Message is what Scan read. Of the dimensions beyond MaxDimensions, which
	// make it invalid, only the number is known.
	Message weirv1.CheckRequest

	dims []weirv1.Dimension // what Message.Dimensions point to
}

// Drop gives the memory up, and with it the text that was read.
func (s *Scanned) Drop() {
	s.Message.Reset()
	s.dims = nil
}

// maxPointers is how many dimensions there may be for the memory to be kept.
const maxPointers = 64

// Scan reads a CheckRequest as it came over the wire, as protobuf does: its
// texts are parts of text.
func (s *Scanned) Scan(text string) error {
	if s.dims == nil || cap(s.Message.Dimensions) > maxPointers {
		s.dims = make([]weirv1.Dimension, MaxDimensions) // pointed into, so it must not move
		s.Message.Dimensions = make([]*weirv1.Dimension, 0, MaxDimensions)
	}
	m := &s.Message
	m.Domain, m.Policy, m.RequestId, m.Dimensions = "", "", "", m.Dimensions[:0]
	m.Cost, m.Number, m.Mode, m.TimeoutUs, m.WantCharges = 0, 0, 0, 0, false
	valid := true
	r := pbwire.Read(text)
	for r.Next() {
		switch r.Tag {
		case tagDomain:
			m.Domain = textOf(&r, &valid)
		case tagPolicy:
			m.Policy = textOf(&r, &valid)
		case tagDimensions:
			s.scanDimension(&r, &valid)
		case tagCost:
			m.Cost = int64(r.Varint())
		case tagRequestID:
			m.RequestId = textOf(&r, &valid)
		case tagNumber:
			m.Number = r.Varint()
		case tagMode:
			m.Mode = weirv1.Mode(r.Varint())
		case tagTimeout:
			m.TimeoutUs = int64(r.Varint())
		case tagWantCharges:
			m.WantCharges = r.Varint() != 0
		default:
			r.Skip()
		}
	}
	if !valid {
		return errUTF8
	}
	return r.Err()
}

func textOf(r *pbwire.Reader, valid *bool) string {
	text := r.Text()
	*valid = *valid && utf8.ValidString(text)
	return text
}

func (s *Scanned) scanDimension(outer *pbwire.Reader, valid *bool) {
	var name, value string
	r := pbwire.Read(outer.Text())
	for r.Next() {
		switch r.Tag {
		case tagName:
			name = textOf(&r, valid)
		case tagValue:
			value = textOf(&r, valid)
		default:
			r.Skip()
		}
	}
	outer.Within(&r)
	m := &s.Message
	if n := len(m.Dimensions); n < MaxDimensions {
		d := &s.dims[n]
		d.Name, d.Value = name, value
		m.Dimensions = append(m.Dimensions, d)
	} else {
		m.Dimensions = append(m.Dimensions, nil)
	}
}
