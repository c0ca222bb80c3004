// Package procs gives Go's scheduler as many processors as the work at hand
// needs, instead of all there are.
//
// A server whose decisions take a microsecond and come in bunches is rarely short
// of processors. With more of them than it needs, Go wakes a thread for every
// bunch, which finds little to do, moves what is hot from one core's cache to the
// other's, and is in the way of the Redis, the gateway or the client beside it.
// With as many as it needs the same work costs a seventh less, and waits less.
//
//	Run: beat -> used, late, idle -> judge -> set
//	All: set, for the time of something heavy
//
// A Governor changes GOMAXPROCS, which is the whole program's: it is for a server,
// and not for a library inside another program. It is safe for concurrent use.
// Nothing runs but Run, which ends with its context and leaves all processors in use.
package procs
