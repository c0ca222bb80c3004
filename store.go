package weir

import "context"

// Store holds counters and decides on them, with its own clock.
//
// Every method is safe for concurrent use. An Entry that is invalid gets its
// own error and does not disturb its neighbours.
type Store interface {
	// Submit decides every entry of b, in order where they share keys, writes
	// the answers into b, and calls done exactly once: on any goroutine, perhaps
	// before Submit returns, and no later than shortly after the deadline. done
	// must not block. b and all it refers to belong to the store until then and
	// are not kept afterwards.
	//
	// When Err of an entry has CodeTimeout, CodeRefused or CodeProtocol the
	// entry may have been charged all the same; it is never sent twice.
	Submit(b *Batch, done func(*Batch))

	// Decide is Submit for a caller that waits. It returns ctx's error as an
	// *Error for every undecided entry when ctx ends first. It returns no error
	// of its own: look at each entry's Err.
	Decide(ctx context.Context, b *Batch)

	// Read returns what is in use under key, without changing it.
	Read(ctx context.Context, key string, m *Meter) (Outcome, error)

	// Reset forgets key. It is not an error when there is nothing to forget.
	Reset(ctx context.Context, key string) error

	// Close releases what the store holds; entries still waiting get
	// CodeClosed. Calls after Close get CodeClosed.
	Close() error
}

// Gatherer is a Store that many requests at once cost less than one after the
// other.
type Gatherer interface {
	// Gather says that several batches are about to be submitted, without waiting
	// in between: the store may keep those that came first until Gathered is
	// called as often, and does not if many have come or others come much later.
	// Their deadlines hold all the same.
	Gather()
	// Gathered ends what Gather began.
	Gathered()
}
