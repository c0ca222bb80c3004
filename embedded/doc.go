// Package embedded puts a whole rate limiter into a Go program: policies from
// files that are followed, and counters in memory or in a store that is shared.
//
//	limits, err := embedded.Open("policies.yaml")
//	if err != nil { ... }
//	http.ListenAndServe(":8080", httplimit.New(limits)(mux))
//
// Files are read again when they change. One that is wrong at the start is an
// error that lists every problem; one that is wrong later is logged, with its
// position, and its last good version stays in force.
//
// A Limits is safe for concurrent use. Open starts a goroutine that follows
// the files, WithSaltFile another; they end before Close returns. A store that
// cannot decide is answered for by the policies' on_failure, within the
// deadline; nothing here panics.
package embedded
