package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/pages"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/policy"
)

// DefaultDeadline is how long a check may take when nobody says otherwise.
const DefaultDeadline = 10 * time.Millisecond

// Options configures an Engine. Store is required.
type Options struct {
	Store    weir.Store
	Deadline time.Duration // per check; a rule and a request may ask for less
	Hooks    weir.Hooks
	// Pseudonyms returns the ring that private values are named by; it is asked
	// once per decision, must not block and never returns nil. nil is a ring
	// without a salt, the same in all programs.
	Pseudonyms func() *pseudonym.Ring

	// The stages around the store; any may be nil. Without a Backstop an open
	// policy passes everything while the store is away, and a local one nothing.
	Local    Local
	Backstop Backstop
	Switch   Switch
	Gate     Gate

	// Leases are the terms of Lease; the zero value is lease's defaults. With
	// NoLeases there are none, whatever policies say.
	Leases   lease.Config
	NoLeases bool
	// Instances returns how many instances share the store, among which leases
	// are divided; nil is one. It must not block.
	Instances func() int
}

// Engine decides requests. Make one with New.
type Engine struct {
	store    weir.Store
	prompt   prompt  // the store, if it is one
	alone    bool    // the store is prompt, and nothing stands before it
	lag      instant // when it was started
	deadline time.Duration
	hooks    weir.Hooks
	ring     func() *pseudonym.Ring
	local    Local
	backstop Backstop
	override Switch
	gate     Gate
	leases   lease.Config
	noLeases bool
	clock    *clock
	loaded   atomic.Pointer[loaded]
	flows    sync.Pool

	instances func() int
}

// loaded is a set and its number.
type loaded struct {
	set    *policy.Set
	serial uint32
}

var (
	_ weir.AsyncChecker = (*Engine)(nil)
	_ weir.Releaser     = (*Engine)(nil)
)

// New returns an engine without policies: until Swap, requests fail with
// CodeNotReady.
func New(o Options) (*Engine, error) {
	if o.Store == nil {
		return nil, &weir.Error{Code: weir.CodeInvalid, Field: "store", Message: "is missing"}
	}
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Pseudonyms == nil {
		o.Pseudonyms = pseudonym.Unsalted
	}
	o.Leases = o.Leases.Settle()
	if err := o.Leases.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		store: o.Store, deadline: o.Deadline, hooks: o.Hooks, ring: o.Pseudonyms,
		local: o.Local, backstop: o.Backstop, override: o.Switch, gate: o.Gate,
		leases: o.Leases, noLeases: o.NoLeases, instances: o.Instances,
		clock: newClock(),
	}
	if e.prompt, _ = o.Store.(prompt); e.prompt != nil {
		e.lag = e.prompt.Started().Sub(e.clock.start)
		e.alone = o.Local == nil && o.Backstop == nil && o.Gate == nil
	}
	e.flows.New = func() any { return newFlow(e) }
	return e, nil
}

// Swap makes set the one that decides, and returns its serial number. Requests
// under way finish under the set they began with.
func (e *Engine) Swap(set *policy.Set) uint32 {
	set.Advise(pages.Large)
	for {
		old := e.loaded.Load()
		next := &loaded{set: set, serial: 1}
		if old != nil {
			next.serial = old.serial + 1
		}
		if e.loaded.CompareAndSwap(old, next) {
			return next.serial
		}
	}
}

// NextSerial is the number that the next Swap will give. Whoever swaps may so
// prepare for it; there should be one who does.
func (e *Engine) NextSerial() uint32 {
	if l := e.loaded.Load(); l != nil {
		return l.serial + 1
	}
	return 1
}

// Set returns the set in force, or nil.
func (e *Engine) Set() *policy.Set {
	if l := e.loaded.Load(); l != nil {
		return l.set
	}
	return nil
}

// Submit implements weir.AsyncChecker.
func (e *Engine) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	f := e.flows.Get().(*flow)
	f.begin(r, d, done)
	f.run()
}

// Check implements weir.Checker.
func (e *Engine) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	if deadline, ok := ctx.Deadline(); ok && (r.Deadline.IsZero() || deadline.Before(r.Deadline)) {
		own := r.Deadline
		r.Deadline = deadline
		err := e.check(r, d)
		r.Deadline = own
		return err
	}
	return e.check(r, d)
}

// check is Check. The store answers by the deadline, so there is no need to watch
// a context: what it would gain is a goroutine that returns before its memory is
// free.
func (e *Engine) check(r *weir.Request, d *weir.Decision) error {
	f := e.flows.Get().(*flow)
	f.begin(r, d, nil)
	decided, err := f.decide()
	if decided {
		f.tell(err)
	} else {
		f.waiter.begin()
		e.store.Submit(&f.batch, f.complete)
		err = f.waiter.wait()
	}
	e.flows.Put(f)
	return err
}
