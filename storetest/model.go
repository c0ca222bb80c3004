package storetest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// Model is the reference: the pure functions of package algo over a map, under
// one lock. It is meant to be obviously right, and is neither fast nor bounded:
// it never drops a state. Its zero value is not useful; see NewModel.
type Model struct {
	clock atomic.Int64 // weir.Micros; 0 is the wall clock
	// decide is (*Model).decideLocked; broken stores put theirs here.
	decide func(m *Model, e *weir.Entry, now weir.Micros)

	mu struct {
		sync.Mutex
		states  map[string]record
		answers map[algo.Owner]answer
		closed  bool
	}
}

// record is a state and the meter it was last written under.
type record struct {
	state algo.State
	meter *weir.Meter
}

// answer is what an entry with an id was told.
type answer struct {
	at       weir.Micros
	outcomes []weir.Outcome
}

var _ weir.Store = (*Model)(nil)

// NewModel returns an empty store on the wall clock.
func NewModel() *Model {
	m := &Model{decide: (*Model).decideLocked}
	m.mu.states = make(map[string]record)
	m.mu.answers = make(map[algo.Owner]answer)
	return m
}

// SetClock stops the clock at now.
func (m *Model) SetClock(now weir.Micros) { m.clock.Store(int64(now)) }

func (m *Model) now() weir.Micros {
	if set := m.clock.Load(); set != 0 {
		return weir.Micros(set)
	}
	return weir.MicrosAt(time.Now())
}

// Harness returns m as something to run the suite on.
func (m *Model) Harness() Harness {
	return Harness{Store: m, SetClock: m.SetClock, Holds: m.Holds}
}

// Submit implements weir.Store.
func (m *Model) Submit(b *weir.Batch, done func(*weir.Batch)) {
	m.mu.Lock()
	now := m.now()
	late := !b.Deadline.IsZero() && !time.Now().Before(b.Deadline)
	for i := range b.Entries {
		e := &b.Entries[i]
		e.Admitted, e.Replayed, e.Now, e.Err = false, false, 0, nil
		switch {
		case m.mu.closed:
			e.Err = errClosed()
		case late:
			e.Err = &weir.Error{Code: weir.CodeTimeout, Message: "the deadline has passed"}
		default:
			if e.Err = e.Validate(); e.Err == nil {
				m.decide(m, e, now)
			}
		}
	}
	m.mu.Unlock()
	done(b)
}

// Decide implements weir.Store.
func (m *Model) Decide(ctx context.Context, b *weir.Batch) {
	if err := contextError(ctx); err != nil {
		for i := range b.Entries {
			b.Entries[i].Err = err
		}
		return
	}
	m.Submit(b, func(*weir.Batch) {})
}

// Read implements weir.Store.
func (m *Model) Read(ctx context.Context, key string, meter *weir.Meter) (weir.Outcome, error) {
	e := weir.Entry{Charges: []weir.Charge{{Key: key, Meter: meter, Mode: weir.Peek}}}
	if err := e.Validate(); err != nil {
		return weir.Outcome{}, err
	}
	if err := contextError(ctx); err != nil {
		return weir.Outcome{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.closed {
		return weir.Outcome{}, errClosed()
	}
	o, _ := algo.Peek(meter, m.mu.states[key].state, m.now(), 0, nil)
	return o, nil
}

// Reset implements weir.Store.
func (m *Model) Reset(ctx context.Context, key string) error {
	if key == "" || len(key) > weir.MaxKeyBytes {
		return &weir.Error{Code: weir.CodeInvalid, Field: "key", Message: "is empty or too long"}
	}
	if err := contextError(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.closed {
		return errClosed()
	}
	delete(m.mu.states, key)
	return nil
}

// Close implements weir.Store.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.closed = true
	return nil
}

// Holds is Harness.Holds. States are reported to go at the first multiple of
// their meter's grid after they expire, which is where a store may put it.
func (m *Model) Holds(key string) (expiresIn time.Duration, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, held := m.mu.states[key]
	if !held {
		return 0, false
	}
	grid := r.meter.Grid
	in := (r.state.Expiry(r.meter)/grid+1)*grid - m.now()
	return in.Duration(), in > 0
}

// decideLocked decides a valid entry.
func (m *Model) decideLocked(e *weir.Entry, now weir.Micros) {
	owner, named, _ := algo.ReplayOwner(e, nil)
	if named {
		first, known := m.mu.answers[owner]
		if known && now-first.at < algo.ReplayWindow {
			e.Outcomes = append(e.Outcomes[:0], first.outcomes...)
			e.Admitted, e.Replayed, e.Now = algo.Passes(e.Charges, e.Outcomes), true, first.at
			return
		}
	}
	m.settleLocked(e, now)
	if named && algo.Remembered(e.Admitted, e.Outcomes) {
		m.mu.answers[owner] = answer{at: now, outcomes: append([]weir.Outcome(nil), e.Outcomes...)}
	}
}

// settleLocked charges an entry that is no replay.
func (m *Model) settleLocked(e *weir.Entry, now weir.Micros) {
	states := make([]algo.State, len(e.Charges))
	for i := range e.Charges {
		states[i] = m.stateLocked(&e.Charges[i], now)
	}
	e.Outcomes = append(e.Outcomes[:0], make([]weir.Outcome, len(e.Charges))...)
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, now, e.Outcomes)
	e.Now = now
	for i := range e.Charges {
		if states[i].Dirty {
			m.keepLocked(&e.Charges[i], states[i])
		}
	}
}

// loadLocked returns a copy of what is held under key.
func (m *Model) loadLocked(key string) algo.State {
	s := m.mu.states[key].state
	s.Runs = append([]algo.Run(nil), s.Runs...)
	return s
}

// storeLocked keeps a state under a key of its own: the caller's may be
// overwritten once done is called.
func (m *Model) storeLocked(key string, meter *weir.Meter, s algo.State) {
	s.Dirty = false
	if s.Used == 0 {
		delete(m.mu.states, key)
		return
	}
	m.mu.states[strings.Clone(key)] = record{state: s, meter: meter}
}

func errClosed() error {
	return &weir.Error{Code: weir.CodeClosed, Message: "the store was closed"}
}

// contextError is the *weir.Error for a context that has ended, or nil.
func contextError(ctx context.Context) error {
	switch err := ctx.Err(); err {
	case nil:
		return nil
	case context.DeadlineExceeded:
		return &weir.Error{Code: weir.CodeTimeout, Err: err}
	default:
		return &weir.Error{Code: weir.CodeCanceled, Err: err}
	}
}
