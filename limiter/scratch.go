package limiter

import (
	"strings"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// chunkBytes is how much of the names of counters is allocated at once: some
// hundred of them.
const chunkBytes = 16 << 10

// scratch is what one request is put together in. It belongs to one goroutine
// at a time; what it hands to a store is the store's until Decide returns.
type scratch struct {
	batch weir.Batch // of one entry
	tag   []byte     // the hash tag of the caller's key
	names strings.Builder
}

func newScratch(charges int) *scratch {
	s := &scratch{tag: make([]byte, 0, 64)}
	s.batch.Entries = []weir.Entry{{
		Charges:  make([]weir.Charge, 0, charges),
		Outcomes: make([]weir.Outcome, 0, charges),
	}}
	return s
}

// begin clears s for a request of the caller's key.
func (s *scratch) begin(callersKey, id string) {
	s.tag = key.AppendTag(s.tag[:0], callersKey)
	s.batch.Deadline = time.Time{}
	e := s.entry()
	*e = weir.Entry{ID: id, Charges: e.Charges[:0], Outcomes: e.Outcomes[:0]}
}

func (s *scratch) entry() *weir.Entry { return &s.batch.Entries[0] }

// add asks for a charge to a counter of the tag.
func (s *scratch) add(c *counter, a *Ask) {
	e := s.entry()
	e.Charges = append(e.Charges, weir.Charge{Key: s.key(c), Meter: c.meter, Cost: a.Cost, Mode: a.Mode})
}

// key returns the name of a counter of the tag. Names are written one behind the
// other into a chunk and are substrings of it: a string each would be an
// allocation each, and bytes that are written again, as no caller of a store
// may do with a string, would need package unsafe.
func (s *scratch) key(c *counter) string {
	n := len(s.tag) + len(c.suffix)
	if s.names.Cap()-s.names.Len() < n {
		s.names.Reset()
		s.names.Grow(max(n, chunkBytes))
	}
	start := s.names.Len()
	s.names.Write(s.tag)
	s.names.WriteString(c.suffix)
	return s.names.String()[start:]
}
