package fastlane

// memo is the last header block of a usual call on a connection, and what it
// said. A client says the same with every call, as a rule, and so in the same
// bytes: these are compared, and nothing is decoded.
//
// A block means the same only while the table is the same, and one that changes
// the table must be decoded. A client that puts a new entry into the table with
// every call thus gains nothing here; it is why entries keep their meaning.
type memo struct {
	block   []byte // empty: none
	changes uint64 // of the table, until then
	head    head   // without its texts
}

// maxMemo is how long a block may be to be kept: a usual one that refers to the
// table has some ten bytes, one that does not some two hundred.
const maxMemo = 512

func (m *memo) knows(block []byte, changes uint64) bool {
	return changes == m.changes && string(block) == string(m.block) && len(block) > 0
}

// keep takes a block that was decoded and was that of a usual call. The table
// is as it was before.
func (m *memo) keep(block []byte, changes uint64, h *head) {
	if len(block) > maxMemo {
		return
	}
	m.block, m.changes = append(m.block[:0], block...), changes
	m.head = *h
	m.head.path, m.head.method, m.head.authority = nil, nil, nil // parts of the block
}
