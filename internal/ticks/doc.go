// Package ticks reads the processor's own counter of time, which takes a third
// of what asking the system for the time does: the system reads the same counter,
// waits for all that was begun before, and turns it into seconds.
//
// The counter says how much time went by in a unit of its own, and not which
// time it is. Who uses it learns the unit by the system's clock, checks again and
// again that the two agree, and goes by that clock where they do not: see
// engine's clock.
//
// It is read on Linux and amd64, where the kernel itself goes by it: the kernel
// knows whether it runs evenly, and is the same on all cores. Elsewhere Usable is
// false. Everything is safe for concurrent use.
package ticks
