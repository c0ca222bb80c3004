// Package degrade is what stands in when the counters cannot be had: the
// engine's stages for a store that is away, a server that has too much to do,
// and an operator who wants everything let through.
//
//	Backstop  decides in the store's place, on this instance's share of each limit
//	Gate      keeps out what would wait too long for the store
//	Switch    forces requests through, for a while
//
// Package share holds the arithmetic of the first, with its bounds.
//
// # What the Backstop remembers
//
// It learns from every answer of the store, so that an outage begins with what
// was left. What it learns is noted, and written where it belongs for several keys
// at once, or when it is asked for. It holds a bounded number of keys, of 72 bytes
// each. Once it is full, a key that is heard of again soon takes the place of the
// one that was not used for longest, as does any that is asked for in an outage;
// one that is heard of once does not. A key that it does not know has its
// whole share: that is the cost of serving tenants that are new. Once as many
// keys were seen as it holds, a key that it does not know may be one that it
// forgot, and begins with a single unit: who goes round more keys than are
// remembered gets one request of each, and not a burst.
//
// Nothing of it survives a restart.
//
// # Concurrency and failure
//
// All of it is safe for concurrent use, takes no context, starts no goroutine
// and cannot fail. Nothing blocks but on locks that are held for less than a
// microsecond.
package degrade
