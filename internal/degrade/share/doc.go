// Package share is the arithmetic of the backstop: what one instance of several
// may let through of a limit while the store that they share is away.
//
// An instance's share of a limit is a bucket: an even part of what the limit
// holds, refilled at an even part of its rate. A State is what is in use of it,
// and has two levels of which the higher counts:
//
//	warm  what the store last said is in use of the limit, cut into shares
//	own   what was in use when this instance last decided, warm included
//
// Warm makes an outage begin with what was left, not with a burst: what all
// instances let through at once is at most what they last heard to be left.
// Own outlives every answer of the store, which does not know of what was let
// through here: a store that comes and goes, or answers one call in the middle of
// an outage, gives nothing back of the share. In every interval T one instance lets
// through at most
//
//	max(capacity/instances, cost of the largest request) + rate/instances x T
//
// and the whole fleet a burst and rate x T, in which every instance counts for
// one unit at least: a share is never less than one request, or small limits
// and large requests would be dead while the store is away.
//
// Windows and logs are buckets here as well, of their count, refilled evenly: in
// an outage that begins in a window of length W and lasts T, they let through at
// most what was left of the limit, and limit x T/W.
//
// All of it is pure: time is an argument, nothing blocks, nothing fails. A State
// and a Desk belong to one caller at a time.
package share
