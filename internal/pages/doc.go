// Package pages asks the system for large pages. Memory that is read here and
// there costs the processor a search for the page, beside the wait for what is on
// it, and in a virtual machine that search is the longer of the two: large pages
// need none.
//
// It is a hint, and is safe for concurrent use. Where the system has no such pages,
// or none to give, nothing changes; elsewhere than on Linux Large does nothing.
package pages
