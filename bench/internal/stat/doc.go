// Package stat is the arithmetic of the comparison: medians with their spread.
//
// Medians and not means, because a busy neighbour on the machine makes one
// round slow, not all of them. Everything here is pure, and a Summary is safe to
// copy.
package stat
