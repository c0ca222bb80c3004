package engine

import "github.com/weirlimit/weir"

// Seat is Submit for who has memory for each request anyway, and one request at a
// time: the next may follow as soon as the one before is called back. It has the
// engine's memory with it, so that none is looked for and given back.
//
// A request takes four steps, Prepare, Find, Fetch and Run, so that those of requests
// that came together can be taken by turns: all wait for their memory at once, and
// not one after the other. Where Fetch has nothing to do, see Engine.Fetches, turns
// gain nothing.
type Seat = interface {
	// Prepare takes r, and has the memory of its rules fetched. Nothing is decided: Run
	// follows.
	Prepare(r *weir.Request, d *weir.Decision, done func(error))
	// Again is Prepare for a request that says the same as the one before, but for
	// its deadline: one key that is asked for all the time need not be looked up
	// each time.
	Again(r *weir.Request, d *weir.Decision, done func(error))
	// Find finds out what it is charged if there is memory to fetch for that.
	Find()
	// Fetch has the memory fetched that Run needs.
	Fetch()
	// Run decides, and calls done, before it returns or later.
	Run()
}

// Seat makes a seat.
func (e *Engine) Seat() Seat {
	s := new(seat)
	s.init(e)
	s.seated = true
	return s
}

// Fetches tells whether seats have memory to fetch: the store's, when it is in
// memory and asked first.
func (e *Engine) Fetches() bool { return e.prompt != nil && e.local == nil }

type seat struct {
	flow
	known bool // the plan is that of the request before
}

// Prepare implements Seat.
func (s *seat) Prepare(r *weir.Request, d *weir.Decision, done func(error)) {
	s.begin(r, d, done)
	s.known = false
	if s.engine.Fetches() && s.under != nil {
		s.under.set.Approach(r)
	}
}

// Again implements Seat.
func (s *seat) Again(r *weir.Request, d *weir.Decision, done func(error)) {
	s.begin(r, d, done)
	if s.known = s.lasts(); !s.engine.Fetches() {
		s.prepared = s.known
	}
}

// Find implements Seat.
func (s *seat) Find() {
	if s.engine.Fetches() {
		s.resolveAhead(s.known)
	}
}

// resolveAhead is resolve, of which Run is told what came of it.
func (s *seat) resolveAhead(known bool) {
	s.prepared = true
	defer func() {
		if p := recover(); p != nil {
			s.broken = p
		}
	}()
	if !known {
		if err := s.resolve(); err != nil {
			s.early = err
			return
		}
	}
	if len(s.plan.Charges) == 1 {
		s.hint = s.engine.prompt.Approach(s.plan.Charges[0].Key)
	}
}

// lasts tells whether the plan that was made last is the same request's again.
func (f *flow) lasts() bool {
	return f.plan.Lasting && f.under != nil && f.under.serial == f.serial
}

// Fetch implements Seat.
func (s *seat) Fetch() {
	if s.hint != 0 {
		s.engine.prompt.Fetch(s.plan.Charges[0].Key, s.hint)
	}
}

// Run implements Seat.
func (s *seat) Run() { s.run() }

// resume is resolve for who has been prepared.
func (f *flow) resume() error {
	if f.early == nil && f.broken == nil {
		return nil
	}
	err, p := f.early, f.broken
	f.early, f.broken = nil, nil
	if p != nil {
		panic(p) // where it is answered
	}
	return err
}
