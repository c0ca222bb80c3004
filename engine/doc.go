// Package engine is the pipeline of one decision: resolve, decide in the store,
// answer; and answer by the fail mode when the store does not.
//
//	Submit -> policy.Set.Resolve -> Store.Submit -> callback -> Decision -> done
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
