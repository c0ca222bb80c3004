// Package measure runs the libraries of package peer and says what each check
// took: wall clock, processor time, allocations and heap in memory; decisions
// per second, latency and the processor time of client and server on Redis.
//
// Libraries take turns, round by round, and each round starts with another
// one: a slow minute of the machine falls on all of them. One library is alive
// at a time, so that none pays for marking another's heap. A check that is
// denied ends the run with an error, because denials are cheaper and would
// flatter whoever denies; a check that fails is counted and is no decision.
//
// The functions own the process while they run: they set GOMAXPROCS, read the
// process's CPU time and heap, and are not safe for concurrent use.
package measure
