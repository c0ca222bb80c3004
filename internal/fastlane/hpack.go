package fastlane

import (
	"errors"

	"golang.org/x/net/http2/hpack"
)

// decoder is the receiving half of HPACK (RFC 7541), made to decode the same
// few fields again and again: an entry of the dynamic table keeps what its value
// means, so that a reference to it costs a copy and no comparison. Nothing is
// allocated once its buffers have grown. The Huffman code is x/net's, and a
// fuzz test holds the rest to x/net's decoder.
type decoder struct {
	methods names
	limit   int // of the size of a list

	// Of the block decoded last; valid until the next one, and as long as the
	// block itself is.
	fields []field
	size   int    // as RFC 9113 counts it, also of fields left out
	text   []byte // what was Huffman coded

	table dynamicTable
}

var (
	errTruncated = errors.New("a truncated header block")
	errIndex     = errors.New("an index beyond the table")
	errInteger   = errors.New("an integer too large")
	errTableSize = errors.New("a table size update where none may be, or too large")
	errBomb      = errors.New("a header block that means far more than it may")
)

// bomb is how many times the limit a block may mean: what is more was not made by
// mistake. A byte can stand for 4 KiB, and each would have to be looked up.
const bomb = 16

// decode decodes a whole block. When its size exceeds the limit the fields are
// incomplete, but the table is right.
func (d *decoder) decode(b []byte) error {
	d.fields, d.size, d.text = d.fields[:0], 0, d.text[:0]
	d.table.begin()
	for len(b) > 0 {
		var err error
		switch c := b[0]; {
		case c&0x80 != 0:
			b, err = d.indexed(b)
		case c&0xc0 == 0x40:
			b, err = d.literal(b, 6, true)
		case c&0xe0 == 0x20:
			if d.size > 0 { // only before the first field
				return errTableSize
			}
			var n int
			if n, b, err = readInteger(b, 5); err == nil {
				if n > defaultTable {
					return errTableSize
				}
				d.table.resize(n)
			}
		default: // without indexing, or never indexed
			b, err = d.literal(b, 4, false)
		}
		if err != nil {
			return err
		}
		if d.size > bomb*d.limit {
			return errBomb
		}
	}
	return nil
}

func (d *decoder) emit(f *field) {
	d.size += f.size()
	if d.size <= d.limit {
		d.fields = append(d.fields, *f)
	}
}

func (d *decoder) indexed(b []byte) ([]byte, error) {
	n, b, err := readInteger(b, 7)
	if err != nil {
		return b, err
	}
	f := d.at(n)
	if f == nil {
		return b, errIndex
	}
	d.emit(f)
	return b, nil
}

func (d *decoder) literal(b []byte, bits uint, keep bool) ([]byte, error) {
	n, b, err := readInteger(b, bits)
	if err != nil {
		return b, err
	}
	var f field
	if n > 0 {
		named := d.at(n)
		if named == nil {
			return b, errIndex
		}
		f.name = named.name
	} else if f.name, b, err = d.readString(b); err != nil {
		return b, err
	}
	if f.value, b, err = d.readString(b); err != nil {
		return b, err
	}
	f.classify(d.methods)
	if keep {
		d.table.add(&f)
	}
	d.emit(&f)
	return b, nil
}

// at finds an entry by its index, nil if there is none.
func (d *decoder) at(n int) *field {
	switch {
	case n <= 0:
		return nil
	case n <= len(staticTable):
		return &staticTable[n-1]
	}
	return d.table.at(n - len(staticTable) - 1)
}

func (d *decoder) readString(b []byte) (s, rest []byte, err error) {
	if len(b) == 0 {
		return nil, b, errTruncated
	}
	coded := b[0]&0x80 != 0
	n, b, err := readInteger(b, 7)
	if err != nil {
		return nil, b, err
	}
	if n > len(b) {
		return nil, b, errTruncated
	}
	s, rest = b[:n:n], b[n:]
	if coded {
		from := len(d.text)
		if _, err := hpack.HuffmanDecode((*textWriter)(d), s); err != nil {
			return nil, rest, err
		}
		s = d.text[from:len(d.text):len(d.text)]
	}
	return s, rest, nil
}

// textWriter has what was Huffman coded appended to a decoder's text.
type textWriter decoder

func (w *textWriter) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	return len(p), nil
}

// readInteger reads an integer of RFC 7541, 5.1. None that means anything here
// is larger than 2^28.
func readInteger(b []byte, bits uint) (n int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, b, errTruncated
	}
	most := 1<<bits - 1
	n = int(b[0]) & most
	if n < most {
		return n, b[1:], nil
	}
	for i := 1; i < len(b); i++ {
		if i > 4 {
			return 0, b, errInteger
		}
		n += int(b[i]&0x7f) << (7 * (i - 1))
		if b[i]&0x80 == 0 {
			return n, b[i+1:], nil
		}
	}
	if len(b) > 4 {
		return 0, b, errInteger
	}
	return 0, b, errTruncated
}
