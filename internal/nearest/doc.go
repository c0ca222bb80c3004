// Package nearest finds the word that somebody who mistyped probably meant: a
// flag, a command, a key of a file. At most two letters, and fewer than half of
// them, may differ, so that a word that is merely another is not taken for one.
//
// It holds no state, is safe for concurrent use, and cannot fail; a word of any
// length costs no more than a name's.
package nearest
