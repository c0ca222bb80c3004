// Package nowait reads and writes sockets by system calls that return at once.
//
// Go's net package makes its system calls as if they could block: the scheduler
// is told before and after each, and when one takes longer than 20 us, because
// its thread was not run or because a write on loopback does the receiver's work
// too, another thread is started to take over. On a busy server that is a tenth
// of its processor time. A call on a socket that does not block needs none of
// it: here the scheduler is asked only to wait until there is something to read.
//
// Writing waits for nobody: what a socket does not take is the caller's to
// write otherwise. That lets a goroutine that must not wait write, too.
//
// There is one Linux implementation; elsewhere New returns nil, which means that
// the connection itself is to be used.
//
// A Conn is for one reader and one writer at a time. Deadlines and Close of the
// connection work on it as ever.
package nowait
