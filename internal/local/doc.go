// Package local answers without the store what one process can answer exactly
// by itself. It is the engine's Local stage, in two parts that are asked in this
// order:
//
//	leases   units taken from the store ahead of time are spent here
//	denials  a counter known to be used up until T denies until T
//
// What is known is learnt from the store's own answers, is believed for a second
// at most, and is gone with the set of policies it was learnt under. It is kept
// in tables that do not grow: forgetting costs a call of the store, never a
// wrong answer. docs/local-tier.md publishes the bounds.
//
// A Tier is safe for concurrent use, reads no clock (it is told the time with
// every request), and allocates nothing per request. Nothing here can fail.
package local
