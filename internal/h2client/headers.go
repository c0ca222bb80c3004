package h2client

import (
	"bytes"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// tableSize is what both sides keep of header fields unless told otherwise.
const tableSize = 4096

// blocks are the request headers as sent: the first of a connection, which fills
// the server's table, and all others, which refer to it.
type blocks struct{ first, rest []byte }

// newBlocks encodes the fields of every request for a server whose table is so
// large. A smaller one than usual is not used at all.
func newBlocks(fields []hpack.HeaderField, table uint32) blocks {
	var buf bytes.Buffer
	enc := hpack.NewEncoder(&buf)
	if table < tableSize {
		enc.SetMaxDynamicTableSize(0)
	}
	write := func() []byte {
		buf.Reset()
		for _, f := range fields {
			_ = enc.WriteField(f) // a Buffer takes all
		}
		return bytes.Clone(buf.Bytes())
	}
	return blocks{first: write(), rest: write()}
}

// meaning is what a header block of an answer says to us. -1 is not said.
type meaning struct {
	http, grpc int
	message    string
}

// reader reads the header blocks of a connection. Those that refer to the table
// or stand for themselves, which after the first few is all, leave the table as
// it is: the same bytes mean the same, and are looked up.
type reader struct {
	dec   *hpack.Decoder
	now   meaning
	known []knownBlock
	turn  int
}

type knownBlock struct {
	block []byte
	means meaning
}

const maxKnown = 8

func newReader() *reader {
	r := &reader{}
	r.dec = hpack.NewDecoder(tableSize, r.field)
	r.dec.SetMaxStringLength(maxPayload)
	return r
}

func (r *reader) read(block []byte) (meaning, error) {
	for i := range r.known {
		if bytes.Equal(r.known[i].block, block) {
			return r.known[i].means, nil
		}
	}
	r.now = meaning{http: -1, grpc: -1}
	if _, err := r.dec.Write(block); err != nil {
		return meaning{}, err
	}
	if err := r.dec.Close(); err != nil {
		return meaning{}, err
	}
	switch {
	case !keepsTable(block):
		r.known = r.known[:0]
	case len(r.known) < maxKnown:
		r.known = append(r.known, knownBlock{bytes.Clone(block), r.now})
	default: // answers that differ each time push each other out
		k := &r.known[r.turn%maxKnown]
		k.block, k.means = append(k.block[:0], block...), r.now
		r.turn++
	}
	return r.now, nil
}

func (r *reader) field(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		r.now.http = number(f.Value)
	case "grpc-status":
		r.now.grpc = number(f.Value)
	case "grpc-message":
		r.now.message = f.Value
	}
}

func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 2 // UNKNOWN, and no HTTP status
	}
	return int(n)
}

// keepsTable tells whether a block, which is valid, adds nothing to the table
// and does not resize it.
func keepsTable(b []byte) bool {
	for len(b) > 0 {
		switch c := b[0]; {
		case c&0x80 != 0:
			_, b = integer(b, 7)
		case c&0xe0 == 0x20, c&0xc0 == 0x40:
			return false
		default: // a literal that is not to be kept
			var index int
			if index, b = integer(b, 4); index == 0 {
				b = skipText(b)
			}
			b = skipText(b)
		}
	}
	return true
}

func skipText(b []byte) []byte {
	n, b := integer(b, 7)
	return b[min(n, len(b)):]
}

// integer reads a number with a prefix of so many bits (RFC 7541, 5.1). What is
// cut off or too large is read as far as it goes: the decoder has refused it.
func integer(b []byte, prefix uint) (int, []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	most := 1<<prefix - 1
	n := int(b[0]) & most
	b = b[1:]
	if n < most {
		return n, b
	}
	for shift := uint(0); len(b) > 0 && shift < 28; shift += 7 {
		c := b[0]
		b = b[1:]
		n += int(c&0x7f) << shift
		if c&0x80 == 0 {
			break
		}
	}
	return n, b
}
