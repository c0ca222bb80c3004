package limiter

import (
	"context"
	"errors"
	"time"

	"github.com/weirlimit/weir"
)

// Ask is one request, with all that may be said of it.
type Ask struct {
	Key  string // whose counters; any bytes, but not none
	Cost int64  // units; 0 means 1
	// Mode is what to do: charge if it fits (the zero value, weir.Enforce), only
	// look (weir.Peek), give back (weir.Refund), take what is there
	// (weir.UpTo), and so on.
	Mode weir.Mode
	// ID names the request, so that sending it again does not charge it again;
	// see weir.Entry. Limits of concurrency need one, and release by it.
	ID string

	holdsOnly bool // charge the limits of concurrency alone
}

// Allow charges one unit to key, if every limit has room for it. The Decision
// has no Charges; Check fills them.
func (l *Limiter) Allow(ctx context.Context, key string) (weir.Decision, error) {
	return l.AllowN(ctx, key, 1)
}

// AllowN charges cost units, all or none. A cost of 0 changes nothing and
// always passes; a cost above what a limit ever holds is denied for good, with
// [weir.ReasonTooCostly].
func (l *Limiter) AllowN(ctx context.Context, key string, cost int64) (d weir.Decision, err error) {
	err = l.check(ctx, &Ask{Key: key, Cost: cost}, &d, false)
	return d, err
}

// Peek tells what Allow would answer now, and changes nothing.
func (l *Limiter) Peek(ctx context.Context, key string) (d weir.Decision, err error) {
	err = l.check(ctx, &Ask{Key: key, Cost: 1, Mode: weir.Peek}, &d, false)
	return d, err
}

// Refund gives cost units back to every limit, such as those of a request that
// was admitted and then not served. No limit ever gets back more than is in
// use. With the id of a request, it happens once however often it is called.
func (l *Limiter) Refund(ctx context.Context, key string, cost int64, id string) error {
	var d weir.Decision
	return l.check(ctx, &Ask{Key: key, Cost: cost, Mode: weir.Refund, ID: id}, &d, false)
}

// Check decides on a and fills d, whose Charges say what each limit answered,
// in the order given to New; it reuses their memory. After an error d is
// undecided.
func (l *Limiter) Check(ctx context.Context, a Ask, d *weir.Decision) error {
	if a.Cost == 0 {
		a.Cost = 1
	}
	return l.check(ctx, &a, d, true)
}

// Reset forgets what key has used.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	if err := l.validate(&Ask{Key: key, Mode: weir.Peek}); err != nil {
		return err
	}
	s := l.pool.Get().(*scratch)
	defer l.pool.Put(s)
	s.begin(key, "")
	for i := range l.counters {
		if err := l.store.Reset(ctx, s.key(&l.counters[i])); err != nil {
			return err
		}
	}
	return nil
}

// check is Check with the cost as it is, and with Charges only when asked for.
func (l *Limiter) check(ctx context.Context, a *Ask, d *weir.Decision, charges bool) error {
	*d = weir.Decision{Charges: d.Charges[:0]}
	err := l.validate(a)
	if err == nil {
		err = ended(ctx)
	}
	if err == nil {
		err = l.decide(ctx, a, d, charges)
	}
	if err == nil || l.onError == 0 || a.Mode == weir.Refund {
		return err
	}
	switch weir.CodeOf(err) {
	case weir.CodeInvalid, weir.CodeCanceled:
		return err
	}
	d.Verdict, d.Reason, d.Source, d.Rule = l.onError, weir.ReasonDegraded, weir.SourceBackstop, l.name
	return nil
}

// validate checks what the store cannot: it sees the names of counters, which
// are never empty nor long.
func (l *Limiter) validate(a *Ask) error {
	switch {
	case a.Key == "":
		return invalid("key", "is empty", "one counter for all is a constant key")
	case len(a.Key) > weir.MaxKeyBytes:
		return invalid("key", "is longer than 64 KiB", "")
	case a.Cost < 0:
		return invalid("cost", "is below 0", "use Refund to give units back")
	case a.ID == "" && a.Mode != weir.Peek && l.holds:
		return invalid("id", "is missing: a concurrency limit releases by it", "use Acquire, or set Ask.ID")
	}
	return nil
}

func (l *Limiter) decide(ctx context.Context, a *Ask, d *weir.Decision, charges bool) error {
	s := l.pool.Get().(*scratch)
	err := l.decideIn(ctx, s, a, d, charges)
	if err == nil {
		// Not after an error: a store that gave up waiting may yet write to it.
		l.pool.Put(s)
	}
	return err
}

// decideIn puts the request together in s and decides on it.
func (l *Limiter) decideIn(ctx context.Context, s *scratch, a *Ask, d *weir.Decision, charges bool) error {
	s.begin(a.Key, a.ID)
	if l.taker != nil && a.Mode == weir.Enforce && a.ID == "" {
		return l.take(s, a, d, charges)
	}
	for i := range l.counters {
		if c := &l.counters[i]; c.holds() || !a.holdsOnly {
			s.add(c, a)
		}
	}
	if l.timeout > 0 {
		s.batch.Deadline = time.Now().Add(l.timeout)
	}
	l.store.Decide(ctx, &s.batch)
	e := s.entry()
	if e.Err != nil {
		return e.Err
	}
	l.read(e, d, charges)
	return nil
}

// take is the short way: one plain charge, no batch.
func (l *Limiter) take(s *scratch, a *Ask, d *weir.Decision, charges bool) error {
	c := &l.counters[0]
	o, err := l.taker.Take(s.key(c), c.meter, a.Cost)
	if err != nil {
		return err
	}
	l.fill(d, c.meter, &o, o.OK)
	d.Delay = o.Delay
	if charges {
		d.Charges = append(d.Charges, weir.Charged{Rule: l.name, Limit: c.meter.Limit, Cost: a.Cost, Outcome: o})
	}
	return nil
}

// ended returns the error of a context that is over, before anything is asked:
// a store in memory would decide, and charge, regardless.
func ended(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &weir.Error{Code: weir.CodeTimeout, Message: "not asked", Err: err}
	}
	return &weir.Error{Code: weir.CodeCanceled, Message: "not asked", Err: err}
}
