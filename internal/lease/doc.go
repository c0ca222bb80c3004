// Package lease decides how many units of a limit a node takes ahead, and how
// long it may spend them: the arithmetic of leases, without the leases.
//
// A lease is a number of units that were charged to a counter at once and are
// handed out one by one with no round trip. What is not handed out in time is
// lost to the counter's callers. [Sizer] weighs the two: few units cost round
// trips, many are lost, or missing elsewhere.
//
//	            used up early                   granted in full
//	L = rate x refresh ---> L + L/8, up to rate x refresh --+
//	      ^                                                 |
//	      +--- L / 2, at least 1 <--- granted less ---------+
//
// [Most] bounds what a node may hold of a limit, so that all nodes together hold
// no more than a share of it: that is by how much more than the limit may be
// admitted in any one stretch of time, because units that were charged before it
// can be spent within it. [Until] is when a lease ends.
//
// Everything here is pure: instants are arguments, on any clock that does not go
// backwards. A Sizer belongs to one key and is not safe for concurrent use.
// Nothing can fail.
package lease
