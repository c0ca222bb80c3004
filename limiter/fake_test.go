package limiter

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// fake is a store with a clock that stands still and a memory of what it was
// asked. It knows no request ids but those of concurrency.
type fake struct {
	mu       sync.Mutex
	now      weir.Micros
	states   map[string]algo.State
	err      error // answers every entry
	keys     []string
	modes    []weir.Mode
	deadline time.Time
}

var _ weir.Store = (*fake)(nil)

const start = 1_700_000_000 * weir.Second

func newFake() *fake { return &fake{now: start, states: map[string]algo.State{}} }

func (f *fake) Submit(b *weir.Batch, done func(*weir.Batch)) {
	f.Decide(context.Background(), b)
	done(b)
}

func (f *fake) Decide(_ context.Context, b *weir.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = b.Deadline
	for i := range b.Entries {
		f.decideLocked(&b.Entries[i])
	}
}

func (f *fake) decideLocked(e *weir.Entry) {
	if e.Err = e.Validate(); e.Err != nil {
		return
	}
	if e.Err = f.err; e.Err != nil {
		return
	}
	f.keys, f.modes = f.keys[:0], f.modes[:0]
	states := make([]algo.State, len(e.Charges))
	for i := range e.Charges {
		f.keys = append(f.keys, e.Charges[i].Key)
		f.modes = append(f.modes, e.Charges[i].Mode)
		states[i] = f.states[e.Charges[i].Key]
	}
	e.Outcomes = append(e.Outcomes[:0], make([]weir.Outcome, len(e.Charges))...)
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, f.now, e.Outcomes)
	e.Now = f.now
	for i := range e.Charges {
		f.states[e.Charges[i].Key] = states[i]
	}
}

func (f *fake) Read(_ context.Context, key string, m *weir.Meter) (weir.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, _ := algo.Peek(m, f.states[key], f.now, 0, nil)
	return o, f.err
}

func (f *fake) Reset(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.states, key)
	return f.err
}

func (f *fake) Close() error { return nil }

// takingFake is a fake that has the short way too.
type takingFake struct {
	*fake
	took int
}

func (f *takingFake) Take(key string, m *weir.Meter, cost int64) (weir.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.took++
	if f.err != nil {
		return weir.Outcome{}, f.err
	}
	s := f.states[key]
	o := algo.Decide(m, &s, f.now, cost, algo.Owner{})
	f.states[key] = s
	return o, nil
}

// limits parses limits written in a test.
func limits(t testing.TB, texts ...string) []weir.Limit {
	t.Helper()
	var list []weir.Limit
	for _, text := range texts {
		l, err := weir.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

func newLimiter(t testing.TB, store weir.Store, texts ...string) *Limiter {
	t.Helper()
	l, err := New(store, "login", limits(t, texts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
