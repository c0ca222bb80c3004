package fastlane

import "encoding/binary"

// cursor is a place in a body that is messages of gRPC, each after its prefix.
type cursor struct {
	prefix [grpcPrefixLen]byte
	have   int   // of the prefix
	left   int64 // of the message, once the prefix is whole
}

// enter goes on to the end of the prefix, if that is in b, and returns the rest.
func (c *cursor) enter(b []byte) []byte {
	if c.have == grpcPrefixLen {
		return b
	}
	n := copy(c.prefix[c.have:], b)
	if c.have += n; c.have == grpcPrefixLen {
		c.left = int64(binary.BigEndian.Uint32(c.prefix[1:]))
	}
	return b[n:]
}

// pass goes on by b.
func (c *cursor) pass(b []byte) {
	for len(b) > 0 {
		b = c.enter(b)
		n := min(c.left, int64(len(b)))
		if c.left, b = c.left-n, b[n:]; c.have == grpcPrefixLen && c.left == 0 {
			c.have = 0
		}
	}
}

// completes tells whether the message ends in b, which comes next.
func (c cursor) completes(b []byte) bool {
	b = c.enter(b)
	return c.have == grpcPrefixLen && int64(len(b)) >= c.left
}
