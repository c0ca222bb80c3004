// Package prefetch asks the processor for memory that is soon to be read, so
// that it comes while other work is done. At a million keys that wait is longer
// than all else that a decision in memory does.
//
// It is a hint. An address may be any number: one that is not of this process, or
// of memory that was freed, does nothing. Where there is no such instruction here,
// Lines does nothing either.
package prefetch
