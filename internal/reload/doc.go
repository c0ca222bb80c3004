// Package reload keeps a value that is made of small files current: a
// certificate and its key, a list of API keys, salts.
//
// The files are read again every second and on demand, whole, and compared by
// their contents: that sees a rewritten file, a renamed one and the symbolic
// links of a Kubernetes volume alike, and costs a few system calls. Contents
// that do not parse leave the last good value in place, so that a pair of files
// may be replaced one after the other.
//
// A File is safe for concurrent use; Get is one atomic load. Nothing runs in
// the background unless Watch is called, and Watch ends with its context.
package reload
