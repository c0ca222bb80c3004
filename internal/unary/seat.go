package unary

import "github.com/weirlimit/weir"

// Submit is weir.AsyncChecker's.
type Submit func(r *weir.Request, d *weir.Decision, done func(error))

// Seat is how one request at a time is submitted to engine: with memory of its
// own, where the engine has seats.
func Seat(engine weir.AsyncChecker) Submit {
	e, ok := engine.(interface {
		Seat() func(r *weir.Request, d *weir.Decision, done func(error))
	})
	if !ok {
		return engine.Submit
	}
	return e.Seat()
}
