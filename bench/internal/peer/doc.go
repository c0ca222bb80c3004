// Package peer puts Weir and the limiters it is compared with behind one
// interface, one file each. An adapter does what a user of that library would
// write for "may this key pass?" and nothing more: no caching, no wrapping, no
// work that the library does not ask for.
//
// All of them get the same Limit and admit the same units, which a test
// checks: a comparison of limiters that do not limit says nothing.
//
// Limiters are safe for concurrent use, as the libraries are. An error is the
// library's own and means that no decision was made.
package peer
