// Package doctest runs the pages of docs/ as a reader would: the shell blocks of
// a page, from the top, in one bash, in a copy of the repository. What a page
// shows as output must be what came out.
//
//	```sh            is run
//	```console       is what the block above it prints: every line must be among
//	                 the lines printed, in this order; ... stands for any text
//
// Blocks of other languages are for reading. A block after the comment
// <!-- not run: why --> is not run, and only where the test allows it.
//
// The documented ports may be taken on the machine, so they are replaced by free
// ones, in the page and in the copies of examples/; time-outs become long, for a
// machine that has other work. Nothing else is changed. A page must stop what it
// starts: a process that is left fails the test, and is killed.
//
// The tests here run every quick start. [Run] is for other pages as well.
package doctest
