// Package engine is the pipeline of one decision: resolve, decide here or in the
// store, answer; and answer by the fail mode when the store does not.
//
//	Submit -> Resolve -> Switch -> Local -> Gate -> Store.Submit -> callback -> Decision -> done
//	                        |        |        |                        |
//	                     forced  answered  Backstop <---- an error ----+
//
// Every stage between resolving and the store may be left out; see ports.go.
//
// It knows ports and the policy package, never a concrete store or a wire. No
// goroutine is held per request: the store's callback completes the answer. In
// the steady state a check allocates nothing here.
//
// An Engine is safe for concurrent use. The set of policies is swapped whole
// and atomically: a decision is made under one set, from resolve to answer. A
// panic in resolving or answering is recovered, counted by Hooks.Panicked, and
// answered by the fail mode.
package engine
