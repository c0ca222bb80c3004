package httplimit

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// state is the memory of one request, reused by others.
type state struct {
	req    weir.Request
	pairs  []weir.Pair
	dec    weir.Decision
	cost   int64 // charged before the response
	chosen bool  // the id is ours
	holds  bool  // of concurrency, until released

	fields respond.Recurring
	body   []byte

	settled func(error) // the callback of what is charged afterwards
}

func newState(l *limiter) *state {
	s := &state{req: weir.Request{Domain: l.domain, Policy: l.policy, Descriptors: make([]weir.Descriptor, 1)}}
	s.fields.Only = l.family
	s.settled = func(err error) {
		l.tell(err)
		l.states.Put(s)
	}
	return s
}

// fill makes s the request that r is.
func (s *state) fill(l *limiter, r *http.Request) error {
	s.holds, s.chosen = false, false
	s.cost = 1
	if l.cost != nil {
		s.cost = max(0, l.cost(r))
	}
	pairs := s.pairs[:0]
	for _, f := range l.dimensions {
		var err error
		if pairs, err = f(r, pairs); err != nil {
			return err
		}
	}
	own := len(pairs)
	pairs = add(pairs, own, "method", r.Method)
	if r.URL != nil {
		// A server takes no other text than UTF-8, and patterns are written in it.
		path := r.URL.Path
		if !utf8.ValidString(path) {
			path = strings.ToValidUTF8(path, "\uFFFD")
		}
		pairs = add(pairs, own, "path", path)
	}
	if r.Pattern != "" {
		pairs = add(pairs, own, "route", r.Pattern)
	}
	s.pairs = pairs
	s.req.ID = ""
	s.req.Descriptors[0] = weir.Descriptor{Pairs: pairs, Cost: s.cost, HasCost: true}
	if l.idHeader == "" {
		return nil
	}
	id := r.Header[l.idHeader]
	if len(id) > 1 || len(id) == 1 && len(id[0]) > weir.MaxIDBytes {
		return invalid(l.idHeader, "is there twice or too long", "256 bytes are the most")
	}
	if len(id) == 1 {
		s.req.ID = id[0]
	}
	return nil
}

// add appends a dimension unless one of the first n has its name.
func add(pairs []weir.Pair, n int, name, value string) []weir.Pair {
	for i := range n {
		if pairs[i].Name == name {
			return pairs
		}
	}
	return append(pairs, weir.Pair{Name: name, Value: value})
}

// ask has the checker decide about r.
func (l *limiter) ask(s *state, r *http.Request) error {
	if err := s.fill(l, r); err != nil {
		return &attribution{err}
	}
	if l.slots && s.req.ID == "" {
		s.req.ID, s.chosen = l.ids.next(), true
	}
	ctx := r.Context()
	err := l.checker.Check(ctx, &s.req, &s.dec)
	if err != nil && wantsID(err) && s.req.ID == "" && l.releaser != nil {
		s.req.ID, s.chosen = l.ids.next(), true
		err = l.checker.Check(ctx, &s.req, &s.dec)
	}
	if err == nil && s.dec.Verdict != weir.Allow && s.dec.Verdict != weir.Deny {
		err = &weir.Error{Message: "the checker made no decision"}
	}
	if err == nil && s.req.ID != "" {
		s.holds = l.releaser != nil && s.dec.Allowed() && s.acquired()
	}
	return err
}

// acquired tells whether the request may hold a place of a limit of concurrency
// that is to be given back.
func (s *state) acquired() bool {
	if s.dec.Replayed {
		return false // it is the first one's, which gives it back itself
	}
	for i := range s.dec.Charges {
		c := &s.dec.Charges[i]
		if c.Limit.Algorithm == weir.Concurrency && c.Outcome.Granted > 0 {
			return true
		}
	}
	// A checker need not list the charges, and a store that did not answer may
	// have counted. Releasing what is not held does nothing.
	return len(s.dec.Charges) == 0 && s.chosen && s.dec.Reason != weir.ReasonNoRule
}

// setHeaders sets the fields that tell of the decision.
func (s *state) setHeaders(h http.Header) respond.Answer {
	now := s.dec.At
	if now == 0 {
		now = weir.MicrosAt(time.Now())
	}
	a := respond.To(&s.dec, now, rand.Int64N)
	s.fields.Set(&a, h)
	return a
}

// settleTimeout bounds what is done for a request after its response, when its
// own context may have ended.
const settleTimeout = time.Second

// settle charges n units after the response, or gives back -n. It takes s over.
func (l *limiter) settle(ctx context.Context, s *state, n int64) {
	if n == 0 {
		l.states.Put(s)
		return
	}
	d := &s.req.Descriptors[0]
	d.Cost, d.HasCost, d.Refund = n, true, n < 0
	if n < 0 {
		d.Cost = -max(n, -maxCost)
	} else {
		spend(d)
	}
	if s.chosen {
		s.req.ID = "" // nobody sends it again
	}
	if l.async != nil {
		l.async.Submit(&s.req, &s.dec, s.settled)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	s.settled(l.checker.Check(ctx, &s.req, &s.dec))
}

// maxCost keeps what is negated in range.
const maxCost = 1<<63 - 1
