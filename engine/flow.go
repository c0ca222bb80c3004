package engine

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/policy"
)

// flow is one request on its way, and all the memory it needs.
type flow struct {
	engine *Engine
	req    *weir.Request
	dec    *weir.Decision
	done   func(error) // nil when waiter is waited for
	waiter waiter
	seated bool // is not the engine's to use again; see Seat
	began  instant
	took   time.Duration // until the store answered; 0 when it was not waited for
	anchor *anchor       // that began is told by
	timed  sampled       // of requests that it is not waited for
	under  *loaded
	shut   bool   // a limit of 0 applies: denied, whatever the store says
	hint   uint64 // see prompt
	inside bool   // passed the gate, and has not left
	told   bool   // the hook was told

	serial uint32 // of the set that the plan is by
	hinted bool   // hints are the plan's

	prepared bool // resolve is done, with this result: see Seat
	early    error
	broken   any

	ask   stage.Ask
	hints []stage.Hint

	plan     policy.Plan
	batch    weir.Batch // of one entry
	complete func(*weir.Batch)
}

func newFlow(e *Engine) *flow {
	f := new(flow)
	f.init(e)
	return f
}

func (f *flow) init(e *Engine) {
	f.engine, f.waiter.wake = e, make(chan struct{}, 1)
	f.plan.Turn = rand.Uint64()
	f.batch.Entries = make([]weir.Entry, 1)
	f.complete = f.answered
	if e.prompt == nil { // else nobody waits, and nothing is used in between
		f.batch.Soon = f.soon
	}
}

func (f *flow) begin(r *weir.Request, d *weir.Decision, done func(error)) {
	f.req, f.dec, f.done = r, d, done
	f.began, f.anchor = f.engine.clock.now()
	f.took = 0
	f.ask.Entry, f.inside, f.told, f.prepared, f.hint = nil, false, false, false, 0
	f.under = f.engine.loaded.Load()
	// Not in one literal: that would be made elsewhere, and copied.
	charges, matched := d.Charges[:0], d.Matched[:0]
	*d = weir.Decision{}
	if f.under != nil {
		d.PolicyVersion, d.SetSerial = f.under.set.Version(), f.under.serial
	}
	d.At, d.Charges, d.Matched, d.RuleIndex = f.anchor.micros(f.began), charges, matched, -1
}

// run resolves the request and hands it to the store, or answers it at once.
func (f *flow) run() {
	if decided, err := f.decide(); decided {
		f.finish(err)
		return
	}
	f.engine.store.Submit(&f.batch, f.complete)
}

// decide takes the request as far as it goes without waiting, and tells the hook
// if that is to a decision. It returns false when it is to the store.
func (f *flow) decide() (decided bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			decided, err = true, nil
			if f.told { // there is a decision: it was the hook
				f.engine.panicked(p)
			} else {
				f.panicked(p)
			}
		}
	}()
	decided, err = f.prepare()
	if prompt := f.engine.prompt; prompt != nil && !decided {
		prompt.DecideNow(&f.batch, f.began-f.engine.lag, f.hint)
		f.took = f.engine.clock.after(f.began, f.anchor)
		decided, err = true, f.settle()
	}
	if decided && err == nil && f.engine.hooks.Decided != nil {
		f.report()
	}
	return decided, err
}

// resolve finds out what the request is charged.
func (f *flow) resolve() error {
	f.plan.Lasting, f.hinted = false, false
	if f.under == nil {
		return notReady()
	}
	f.serial = f.under.serial
	f.plan.Now, f.plan.Ring = f.dec.At, f.engine.ring()
	return f.under.set.Resolve(f.req, &f.plan)
}

// prepare resolves the request, if that was not done. It returns true when there
// is nothing to ask the store.
func (f *flow) prepare() (decided bool, err error) {
	if f.prepared {
		err = f.resume()
	} else if err = f.resolve(); err == nil && f.engine.Fetches() && len(f.plan.Charges) == 1 {
		f.hint = f.engine.prompt.Expect(f.plan.Charges[0].Key)
	}
	if err != nil {
		return true, err
	}
	f.describe()
	if f.forced() {
		return true, nil
	}
	f.shut = f.plan.Denied()
	if f.isSingle() {
		if done, err := f.single(); done {
			return true, err
		}
	}
	switch {
	case f.shut && !f.countsAnyway():
		f.denyOutright()
		return true, nil
	case len(f.plan.Charges) == 0:
		f.dec.Verdict, f.dec.Reason = weir.Allow, weir.ReasonNoRule
		return true, nil
	}
	e := &f.batch.Entries[0]
	e.Charges, e.ID, e.Outcomes = f.plan.Charges, f.req.ID, e.Outcomes[:0]
	e.Admitted, e.Replayed, e.Now, e.Err = false, false, 0, nil
	if f.stages(e) {
		return true, nil
	}
	if f.engine.prompt != nil {
		f.batch.Deadline = f.req.Deadline // the others are yet to come, and nobody waits
	} else {
		f.batch.Asked = f.anchor.time(f.began)
		f.batch.Deadline = f.deadline()
	}
	return false, nil
}

// deadline is the earliest of the engine's, the rules' and the request's.
func (f *flow) deadline() time.Time {
	limit := f.engine.deadline
	if f.plan.Deadline > 0 && f.plan.Deadline < limit {
		limit = f.plan.Deadline
	}
	at := f.batch.Asked.Add(limit)
	if d := f.req.Deadline; !d.IsZero() && d.Before(at) {
		return d
	}
	return at
}

// soon fetches what settling needs and what was used last when the request came:
// many others were in between.
func (f *flow) soon() { f.plan.Expect() }

// answered is the store's callback.
func (f *flow) answered(*weir.Batch) {
	f.took = f.engine.clock.after(f.began, f.anchor)
	f.finish(f.conclude())
}

// conclude is settle, and answers when that breaks.
func (f *flow) conclude() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = nil
			f.panicked(p)
		}
	}()
	return f.settle()
}

// settle turns the store's answer, or its failure, into the decision.
func (f *flow) settle() error {
	e := &f.batch.Entries[0]
	f.leave()
	if e.Err != nil {
		return f.failed(e.Err)
	}
	f.learn()
	f.fill(e, weir.SourceStore)
	if f.shut {
		f.denyOutright()
	}
	return nil
}

// failed answers when the store did not.
func (f *flow) failed(err error) error {
	switch weir.CodeOf(err) {
	case weir.CodeInvalid, weir.CodeCanceled, weir.CodePolicyNotFound:
		return err // the caller's own doing
	}
	f.degrade(err)
	if f.shut {
		f.denyOutright()
	}
	return nil
}

// panicked answers a request in whose handling something broke.
func (f *flow) panicked(p any) {
	f.engine.panicked(p)
	f.leave()
	f.ask.Entry = nil // whatever is in it
	f.degrade(&weir.Error{Code: weir.CodeInternal, Message: "a panic was recovered"})
}

func (e *Engine) panicked(p any) {
	if hook := e.hooks.Panicked; hook != nil {
		hook(fmt.Sprint(p))
	}
}

// finish calls back, and makes the flow ready for another request. Nothing of
// it is touched afterwards; one that is waited for is given back by who waits.
func (f *flow) finish(err error) {
	e, done := f.engine, f.done
	f.tell(err)
	if done == nil {
		f.waiter.answer(err)
		return
	}
	if !f.seated {
		e.flows.Put(f)
	}
	e.callBack(done, err)
}

// tell tells the hook, if it was not, and lets go of what the caller owns.
func (f *flow) tell(err error) {
	if err == nil && !f.told && f.engine.hooks.Decided != nil {
		f.reportSafely()
	}
	f.req, f.dec, f.done, f.under = nil, nil, nil, nil
}

// report calls the hook.
func (f *flow) report() {
	f.told = true
	if f.took == 0 {
		f.took = f.timed.took(f.engine.clock, f.began, f.anchor)
	}
	f.engine.hooks.Decided(f.req, f.dec, f.took)
}

// reportSafely is report where a panic of the hook would keep the answer back.
func (f *flow) reportSafely() {
	defer f.engine.recovered()
	f.report()
}

// callBack answers. A callback that panics is the caller's fault, and must not
// take the store's goroutine with it.
func (e *Engine) callBack(done func(error), err error) {
	defer e.recovered()
	done(err)
}

func (e *Engine) recovered() {
	if p := recover(); p != nil {
		e.panicked(p)
	}
}
