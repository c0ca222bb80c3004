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
	// One state per salt, each made when it is first needed: keying one hashes two blocks, using it again restores them.
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
	h.macs = make([]hash.Hash, len(r.config.Salts))
}

// Ring is the one in use.
func (h *Hasher) Ring() *Ring { return h.ring }

// Append appends the pseudonym of a dimension's value under a salt, by its
// number in the ring.
func (h *Hasher) Append(dst []byte, salt int, name, value string) []byte {
	mac := h.macs[salt]
	if mac == nil {
		mac = hmac.New(sha256.New, h.ring.config.Salts[salt].Secret[:])
		h.macs[salt] = mac
	}
	h.text = appendText(h.text[:0], name, value)
	mac.Reset()
	mac.Write(h.text)
	return base64.RawURLEncoding.AppendEncode(dst, mac.Sum(h.sum[:0])[:nameBytes])
}

// Slot returns which of the Slots a dimension's value belongs to, now and under
// every salt to come. One hash over secret and value is enough, and half the
// work of an HMAC: what that guards against needs more of a digest than 12 bits.
func (h *Hasher) Slot(name, value string) uint16 {
	if h.ring.config.OneSlot {
		return 0
	}
	h.text = appendText(append(h.text[:0], h.ring.config.Slots[:]...), name, value)
	sum := sha256.Sum256(h.text)
	return binary.BigEndian.Uint16(sum[:]) >> (16 - slotBits)
}

func appendText(dst []byte, name, value string) []byte {
	return append(append(append(dst, name...), 0), value...)
}
