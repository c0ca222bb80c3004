// Package breaker decides whether a call to a shard is worth sending. It is a
// pure state machine: it is told the time, what became of each call and how to
// jitter, and it holds no lock, no timer and no goroutine. A Breaker is not safe
// for concurrent use; who shares one holds a lock around it.
//
// What counts as a failure is the caller's to say. One that wants a slow server
// to stay shut out reports an answer that came too late as a failure, also of a
// probe.
//
// It cannot fail, and it cannot stay open for want of an event: a probe that is
// never heard of again is given up after Config.ProbeFor, by the next Allow.
package breaker
