package rlsload

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// requestHeaders are the blocks of a call of ShouldRateLimit: the first one
// fills the server's table, all others refer to it.
func requestHeaders(authority string, table uint32) (first, next []byte) {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	enc.SetMaxDynamicTableSizeLimit(table)
	write := func() []byte {
		b.Reset()
		for _, f := range [][2]string{
			{":method", "POST"},
			{":scheme", "http"},
			{":path", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"},
			{":authority", authority},
			{"content-type", "application/grpc"},
			{"user-agent", "weir-bench"},
			{"te", "trailers"},
		} {
			// Writing to a bytes.Buffer does not fail.
			_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		return bytes.Clone(b.Bytes())
	}
	return write(), write()
}

// statusReader finds the grpc-status of header blocks. Blocks that
// leave the table as it is mean the same until another changes it, and are
// remembered: after a few calls nothing is decoded any more.
type statusReader struct {
	dec    *hpack.Decoder
	status int
	known  []knownBlock
}

type knownBlock struct {
	block  string
	status int
}

// noStatus is a block without a grpc-status.
const noStatus = -1

// maxKnown bounds the blocks remembered: a server has two or three.
const maxKnown = 8

func newStatusReader() *statusReader {
	r := &statusReader{}
	const table = 4096 // of RFC 7541, when no setting says otherwise
	r.dec = hpack.NewDecoder(table, func(f hpack.HeaderField) {
		switch f.Name {
		case "grpc-status":
			if n, err := strconv.Atoi(f.Value); err == nil && n >= 0 {
				r.status = n
			}
		case ":status":
			if f.Value != "200" {
				r.status = 2 // UNKNOWN, as gRPC has it for most of these
			}
		}
	})
	return r
}

// read returns the block's grpc-status, or noStatus.
func (r *statusReader) read(block []byte) (int, error) {
	for i := range r.known {
		if r.known[i].block == string(block) {
			return r.known[i].status, nil
		}
	}
	r.status = noStatus
	if _, err := r.dec.Write(block); err != nil {
		return 0, fmt.Errorf("decode header block: %w", err)
	}
	if err := r.dec.Close(); err != nil {
		return 0, fmt.Errorf("decode header block: %w", err)
	}
	switch {
	case !neutral(block):
		r.known = r.known[:0] // the table may have changed
	case len(r.known) < maxKnown:
		r.known = append(r.known, knownBlock{string(block), r.status})
	}
	return r.status, nil
}

// neutral reports whether a block leaves the table as it is: no field of it asks
// to be added, nor the table to be resized. The block was decoded before, so its
// lengths are right.
func neutral(block []byte) bool {
	for len(block) > 0 {
		switch b := block[0]; {
		case b&0x80 != 0: // a field of the table
			_, block = prefixed(block, 7)
		case b&0xe0 != 0: // a field to be added, or a size
			return false
		default: // a field that is not to be added: index of its name or 0, texts
			name, rest := prefixed(block, 4)
			block = rest
			if name == 0 {
				block = skipText(block)
			}
			block = skipText(block)
		}
	}
	return true
}

// prefixed takes an integer off b whose first bits share a byte with others.
func prefixed(b []byte, bits int) (v int, rest []byte) {
	limit := 1<<bits - 1
	v, b = int(b[0])&limit, b[1:]
	if v < limit {
		return v, b
	}
	for shift := 0; len(b) > 0 && shift < 28; shift += 7 {
		c := b[0]
		v, b = v+int(c&0x7f)<<shift, b[1:]
		if c < 0x80 {
			break
		}
	}
	return v, b
}

func skipText(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	n, rest := prefixed(b, 7)
	return rest[min(n, len(rest)):]
}
