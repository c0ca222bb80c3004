package algo

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/weirlimit/weir"
)

// ReplayOwner names an entry for request-id replay: its id together with its
// keys, costs and modes, so that an id used for something else is not a
// replay. A key that is changing its name counts by the elder one, see
// weir.Twinning. It appends to and returns scratch, for reuse. An entry without
// an id, or of concurrency charges only, which are idempotent by themselves, has
// none.
func ReplayOwner(e *weir.Entry, scratch []byte) (owner Owner, ok bool, _ []byte) {
	if e.ID == "" {
		return Owner{}, false, scratch
	}
	b := binary.AppendUvarint(scratch[:0], uint64(len(e.ID)))
	b = append(b, e.ID...)
	counted := false
	for i := range e.Charges {
		c := &e.Charges[i]
		counted = counted || c.Meter.Machine != weir.Slots
		key := c.Elder()
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(c.Cost))
		b = append(b, byte(c.Mode))
	}
	if !counted {
		return Owner{}, false, b
	}
	sum := sha256.Sum256(b)
	return Owner(sum[:16]), true, b
}

// Remembered tells whether an entry with an id is to be remembered: it was
// admitted, or it was denied and has charged or refunded all the same. Any other
// denial did nothing, and whoever waits and asks again must be able to pass.
func Remembered(admitted bool, out []weir.Outcome) bool {
	for i := range out {
		admitted = admitted || out[i].Granted != 0
	}
	return admitted
}

// ReplayWindow is how long a request id is remembered.
const ReplayWindow = 10 * weir.Minute
