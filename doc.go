// Package weir is the vocabulary of a rate limiter: what a limit is, what a
// request is charged, what was decided, and the ports behind which counters
// live. It imports the standard library only, so that a gateway can depend on
// the words without depending on a store.
//
// The pieces, in the order in which a decision meets them:
//
//	Limit    what an operator writes: 100/s burst 200
//	Meter    a Limit that was checked and prepared for deciding
//	Charge   one key, its Meter and a cost, with a Mode
//	Entry    the charges of one request: they pass together or not at all
//	Batch    entries handed to a Store at once
//	Outcome  what the Store found and did, per Charge, also on denial
//	Decision what the caller of a Checker is told
//
// The algorithms are in package algo, the stores in memstore and redisstore,
// and a ready-made limiter for a program that only wants to ask "may this key
// pass?" is in package limiter.
//
// All values here are plain data and are safe to copy; a Meter is immutable
// and safe for concurrent use.
package weir
