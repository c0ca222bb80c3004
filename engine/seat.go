package engine

import "github.com/weirlimit/weir"

// Seat is Submit for who has memory for each request anyway, and one request at a
// time: the next may follow as soon as the one before is called back. It has the
// engine's memory with it, so that none is looked for and given back.
func (e *Engine) Seat() func(r *weir.Request, d *weir.Decision, done func(error)) {
	f := newFlow(e)
	f.seated = true
	return f.submit
}

func (f *flow) submit(r *weir.Request, d *weir.Decision, done func(error)) {
	f.begin(r, d, done)
	f.run()
}
