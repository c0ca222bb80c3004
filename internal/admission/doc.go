// Package admission is what middleware does about a request whatever its
// protocol: ask a checker about it, give it an id where a limit of concurrency
// wants one, answer in the checker's place when that makes no decision, wait for
// a leaky bucket, and afterwards release its place, give back what it was
// charged, or charge what it turned out to cost.
//
//	Begin -> Describe -> Ask -> Wait -> the handler -> End
//	             |        |      |                      ^
//	             +-error--+      +-too long, gone-------+
//	                  |                                 |
//	              Undecided -> an error, or a Decision -+
//
// A Gate is what the requests of one limiter share; it is safe for concurrent
// use. A Pass is one request and its memory, which others use after it: it is
// not safe for concurrent use, but for Spend.
//
// What a caller did wrong refuses it: if that passed, a caller could choose not
// to be limited. Whose caller is gone is refused too: who hangs up at once would
// otherwise be served without having been counted, and who gives no time for a
// check would choose how it fails: the checker is not told of a caller's
// deadline, and has one of its own. Every other failure of a
// checker lets requests pass, or denies them, as Settings say. Failures
// afterwards are told to Settings.Log and nobody else; nothing here panics.
package admission
