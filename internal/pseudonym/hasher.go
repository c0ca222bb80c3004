package pseudonym

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
)

const (
	nameBytes = 16 // of a digest make a name: 2^-128 is chance enough
	// Len is the length of a pseudonym in characters.
	Len = 22
	// Slots is how many hash tags private values share, 12 bits: enough to fill
	// a cluster evenly, too few to tell a value by.
	Slots = 1 << slotBits

	slotBits = 12
)

// Hasher makes pseudonyms of one ring at a time. The zero value is ready for
// Use. It is not safe for concurrent use.
type Hasher struct {
	ring *Ring
	// One state per salt, and that of the slots at the end, each made when it is
	// first needed: keying one hashes two blocks, using it again restores them.
	macs []hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// Use makes r the ring that names come from. It costs nothing when it is
// already.
func (h *Hasher) Use(r *Ring) {
	if h.ring == r {
		return
	}
	h.ring = r
	h.macs = make([]hash.Hash, len(r.config.Salts)+1)
}

// Ring is the one in use.
func (h *Hasher) Ring() *Ring { return h.ring }

// Append appends the pseudonym of a dimension's value under a salt, by its
// number in the ring.
func (h *Hasher) Append(dst []byte, salt int, name, value string) []byte {
	sum := h.digest(salt, &h.ring.config.Salts[salt].Secret, name, value)
	return base64.RawURLEncoding.AppendEncode(dst, sum[:nameBytes])
}

// Slot returns which of the Slots a dimension's value belongs to, now and under
// every salt to come.
func (h *Hasher) Slot(name, value string) uint16 {
	sum := h.digest(len(h.ring.config.Salts), &h.ring.config.Slots, name, value)
	return binary.BigEndian.Uint16(sum) >> (16 - slotBits)
}

func (h *Hasher) digest(i int, secret *Secret, name, value string) []byte {
	mac := h.macs[i]
	if mac == nil {
		mac = hmac.New(sha256.New, secret[:])
		h.macs[i] = mac
	}
	h.text = append(append(append(h.text[:0], name...), 0), value...)
	mac.Reset()
	mac.Write(h.text)
	return mac.Sum(h.sum[:0])
}
