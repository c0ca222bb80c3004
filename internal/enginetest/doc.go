// Package enginetest makes engines for tests of what stands in front of one:
// adapters and clients. A fake checker cannot show that a request reaches the
// limit it is meant for, so tests use the engine that production uses.
//
//	e := enginetest.New(t, "policies:\n  - {id: p, limits: [2/h], on_failure: open}\n", engine.Options{})
//
// An engine holds no goroutine of its own on a store in memory; nothing is left
// to stop. A text that is no set of policies fails the test.
package enginetest
