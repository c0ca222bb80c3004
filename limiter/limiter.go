package limiter

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// Limiter decides on the requests of many keys under the same limits. Make one
// with New; the zero value is invalid.
type Limiter struct {
	store    weir.Store
	taker    taker // the short way for plain requests, or nil
	name     string
	counters []counter
	holds    bool          // one of the limits is of concurrency
	timeout  time.Duration // 0 leaves the deadline to the store
	onError  weir.Verdict  // 0 returns the error
	pool     *sync.Pool    // of *scratch
}

// counter is one limit, and what its keys end in.
type counter struct {
	meter  *weir.Meter
	suffix string
}

// taker is a store that can decide one charge without a batch, at once and on
// the caller's goroutine. It must answer as Decide would.
type taker interface {
	Take(key string, m *weir.Meter, cost int64) (weir.Outcome, error)
}

// New returns a limiter that holds every key to all of the limits. The name
// says what is limited, such as "login": it is part of the counters' names and
// is what a Decision calls its rule.
//
// An invalid argument gives an *weir.Error that names it. Two limits with the
// same algorithm and the same window would share a counter, and are refused.
func New(store weir.Store, name string, limits ...weir.Limit) (*Limiter, error) {
	switch {
	case store == nil:
		return nil, invalid("store", "is missing", "for example memstore.New()")
	case name == "":
		return nil, invalid("name", "is empty", "say what is limited, for example login")
	case len(limits) == 0:
		return nil, invalid("limits", "there is none", "give one, or more to be decided together")
	case len(limits) > weir.MaxCharges:
		return nil, invalid("limits", fmt.Sprintf("%d are more than %d", len(limits), weir.MaxCharges), "")
	}
	l := &Limiter{store: store, name: name}
	for i, limit := range limits {
		c, err := newCounter(name, limit)
		if err != nil {
			return nil, at(i, err)
		}
		if j := slices.IndexFunc(l.counters, c.shares); j >= 0 {
			return nil, at(i, invalid("window", fmt.Sprintf("limits[%d] has the same algorithm and window", j),
				"keep the stricter of the two"))
		}
		l.counters = append(l.counters, c)
		l.holds = l.holds || c.holds()
	}
	if t, ok := store.(taker); ok && len(limits) == 1 && !l.holds {
		l.taker = t
	}
	l.pool = &sync.Pool{New: func() any { return newScratch(len(limits)) }}
	return l, nil
}

func newCounter(name string, limit weir.Limit) (counter, error) {
	m, err := weir.NewMeter(limit)
	if err != nil {
		return counter{}, err
	}
	// No domain: those are for policies, which always have one.
	k := key.Key{Rule: name, Algorithm: limit.Algorithm, Window: limit.Window}
	return counter{meter: m, suffix: string(key.AppendRest(nil, &k))}, nil
}

func (c counter) shares(other counter) bool { return c.suffix == other.suffix }

// holds reports a limit whose units are released rather than drained.
func (c counter) holds() bool { return c.meter.Machine == weir.Slots }

// Name returns the name given to New.
func (l *Limiter) Name() string { return l.name }

// WithTimeout returns a limiter on the same counters whose requests are answered
// within d, by an error if need be. With 0 the store's own default applies, and
// the context's deadline always does.
func (l *Limiter) WithTimeout(d time.Duration) *Limiter {
	c := *l
	c.timeout = max(0, d)
	return &c
}

// WithOnError returns a limiter on the same counters that answers for a store
// which does not: [weir.Allow] fails open, [weir.Deny] fails closed, and any
// other value returns the error, as New does. Such an answer says so by
// [weir.ReasonDegraded] and [weir.SourceBackstop], and knows no retry-after.
//
// Errors that are the caller's own (invalid input, a canceled context) are
// returned all the same, and so are those of Refund, Release and Reset.
func (l *Limiter) WithOnError(v weir.Verdict) *Limiter {
	c := *l
	c.onError = 0
	if v == weir.Allow || v == weir.Deny {
		c.onError = v
	}
	return &c
}

func invalid(field, message, hint string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}

// at says which of the limits an error of New is about.
func at(i int, err error) error {
	if e, ok := err.(*weir.Error); ok {
		e.Field = fmt.Sprintf("limits[%d].%s", i, e.Field)
	}
	return err
}
