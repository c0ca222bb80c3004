// Package redisstore is a weir.Store on Redis or Valkey, 7.0 or newer: a single
// server, one behind Sentinel, or a cluster.
//
// # Group commit
//
// Entries queue per shard while a round trip is in flight; the next one takes
// all of them. There is no timer: an idle store adds no wait, a busy one
// batches by itself. Identical entries are sent once with a count, and one
// script call reads every key once, decides, and writes every changed key
// once. The script returns the states it found and the instant it used; the
// answers are computed here from those by algo.Settle, the same function that
// memstore runs, so the two stores cannot drift apart unnoticed.
//
//	Submit -> shard queue -> flight: group, encode -> EVALSHA -> replay -> done
//	              ^                                      |
//	              +-------- not sent, or not here -------+
//
// A charge with a twin reads two keys of one slot, and writes or deletes both in
// the same call; see weir.Twinning. Entries that know one of the names, and
// entries that know both in either order, may stand in one call.
//
// # Deadlines
//
// A watchdog answers every entry by its deadline, whatever the connection
// does: queued entries are dropped unsent, flying ones are abandoned and
// counted when their answer arrives. A batch that may have run is never sent
// again. One that certainly has not (no connection, wrong node, server
// loading) waits for the next attempt until its deadline.
//
// # Breakers
//
// Each shard has a breaker: after too many failures entries are refused with
// CodeBreaker, unsent, until one that is let through is answered in time. The
// shard's own lock guards it. A server that cannot be reached is dialled twice a
// second at most.
//
// # Cluster
//
// A batch goes to a node, not to a slot, with the keys of all its slots as
// plain arguments; a key that is not there fails its own entry, which is then
// sent again with declared keys, the form that can follow MOVED and ASK.
// Entries whose keys live on several nodes go out in parts; when one part is
// denied the others are undone.
//
// A Store is safe for concurrent use. It runs two goroutines per shard, a
// watchdog, and for a cluster or Sentinel one that follows the topology; Close
// ends them all.
package redisstore
