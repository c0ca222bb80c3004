package unary

import "github.com/weirlimit/weir"

// Seat is where one request at a time is decided, in steps: that of an engine
// that has such, see engine.Seat. It is an alias, so that neither need know the
// other.
type Seat = interface {
	Prepare(r *weir.Request, d *weir.Decision, done func(error))
	Again(r *weir.Request, d *weir.Decision, done func(error))
	Find()
	Fetch()
	Run()
}

// seatOf makes a seat, with memory of its own where the engine has seats.
func seatOf(engine weir.AsyncChecker) Seat {
	if e, ok := engine.(interface{ Seat() Seat }); ok {
		return e.Seat()
	}
	return &stool{engine: engine}
}

// byTurns tells whether an engine gains when the steps of several seats are taken
// by turns. If it does not, one is better taken after the other: all of a request is
// then at hand.
func byTurns(engine weir.AsyncChecker) bool {
	e, ok := engine.(interface{ Fetches() bool })
	return ok && e.Fetches()
}

// stool is a seat of an engine that has none.
type stool struct {
	engine weir.AsyncChecker
	r      *weir.Request
	d      *weir.Decision
	done   func(error)
}

func (s *stool) Prepare(r *weir.Request, d *weir.Decision, done func(error)) {
	s.r, s.d, s.done = r, d, done
}

func (s *stool) Again(r *weir.Request, d *weir.Decision, done func(error)) { s.Prepare(r, d, done) }

func (*stool) Find() {}

func (*stool) Fetch() {}

func (s *stool) Run() { s.engine.Submit(s.r, s.d, s.done) }
