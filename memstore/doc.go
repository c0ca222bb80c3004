// Package memstore is a weir.Store in the memory of one process.
//
// It is built for a gateway that checks millions of keys: a check that finds
// its key allocates nothing, and what is stored holds no pointer, so that the
// garbage collector has a few hundred objects to mark and not a million keys.
//
// # Layout
//
// A key's seeded hash picks one of the shards. A shard has a mutex and a few
// hash tables, one for each size of key:
//
//	shard 17  mutex
//	          table of keys up to  8 bytes  | state 24 | key  8 | state ...
//	          table of keys up to 16 bytes  | state 24 | key    16 | ...
//	          ...                    80
//	          table of longer keys          | state 24 | ref  8 | ...
//	          slab: longer keys, and the runs of sliding windows, logs and
//	          concurrency, in pages of equal blocks; a single run stands in
//	          the place of the state
//
// The state stands beside its key in the table itself, so that a check touches
// one place in memory however many keys there are. Tables grow by a fifth, and
// are two thirds to four fifths full. Keys longer than 255 bytes are stored as
// their SHA-256: what a flood of long keys can take is bounded by the cap on
// keys too.
//
// # Expiry
//
// A state is dropped only once it equals an empty one under the limit it was
// last charged under, on a grid of a quarter of a second. There is no scan of
// the store and no goroutine. Every 32 cells know an instant before which none
// of them expires. A table that is full is swept before it grows; and of what
// expired more than a minute ago, every new key of a shard sweeps 32 cells.
//
// # The cap
//
// At the cap a new key displaces another. First those that expired: all of
// the key's own shard, then of up to four other shards that may have some. Only
// when these have none is a live state evicted: of a random sample of the key's
// shard the one with the smallest share of its limit in use, because forgetting
// it changes least. The sample is 16 states, and more, up to 128, until one uses
// no more than an eighth of its limit. A bucket's share is what is left of it
// now; of other states it is the share when they were last written. Evictions
// are counted, see Stats and weir.Hooks.
//
// # Request ids
//
// Entries with an id are remembered for algo.ReplayWindow, as far as
// WithMaxReplays allows; past that the oldest are forgotten first, and counted.
//
// # Thread safety
//
// Everything is safe for concurrent use. Lock order: an entry locks the shards
// of its keys and their twins, and the shard that remembers its id, in ascending
// order of their number, all before it reads anything; whoever makes room in
// another shard holds no lock meanwhile. A panic below a lock releases it. A lock
// is held for well below a microsecond, and for up to some 0.3 ms when a table
// grows or is swept whole; see BenchmarkWorstPause.
//
// # Failure modes
//
// Nothing here waits or does I/O. States do not survive the process. An entry
// gets CodeOverload, and is not charged, when it has more keys than the cap, twins
// counted.
package memstore
