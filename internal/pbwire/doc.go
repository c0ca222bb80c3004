// Package pbwire reads and writes protobuf's wire format, for the few messages
// that are decoded and encoded per decision. A caller names the fields it knows;
// there are no descriptors, no reflection and no memory of its own.
//
// A Reader walks a message and hands out substrings of it. What it does not
// know it skips, and it refuses what google.golang.org/protobuf refuses, but for
// two things that are the caller's to decide: whether a text has to be UTF-8, and
// whether bytes that are skipped are a message themselves. Groups, which nobody
// has sent since proto2, are skipped to a depth of 64 and refused below.
//
// The Append functions leave out zeros, as proto3 does, and write fields in the
// order they are called in: by number, if the result is to be what protobuf
// writes.
//
// Nothing here blocks, allocates (beyond growing what is appended to) or
// panics. Readers are not safe for concurrent use; the functions are.
package pbwire
