package httplimit

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/respond"
)

// state is the memory of one request, reused by others.
type state struct {
	admission.Pass
	fields respond.Recurring
	body   []byte
}

func newState(l *limiter) *state {
	s := &state{}
	s.fields.Only = l.family
	s.Init(l.gate, func() { l.states.Put(s) })
	return s
}

// fill makes s the request that r is.
func (s *state) fill(l *limiter, r *http.Request) error {
	cost := int64(1)
	if l.cost != nil {
		cost = l.cost(r)
	}
	pairs := s.Begin(cost)
	for _, f := range l.dimensions {
		var err error
		if pairs, err = f(r, pairs); err != nil {
			return err
		}
	}
	own := len(pairs)
	pairs = admission.Add(pairs, own, "method", r.Method)
	if r.URL != nil {
		pairs = admission.Add(pairs, own, "path", admission.Text(r.URL.Path))
	}
	if r.Pattern != "" {
		pairs = admission.Add(pairs, own, "route", r.Pattern)
	}
	if l.ranks != nil {
		pairs = admission.Add(pairs, own, "priority", l.ranks(r).String())
	}
	s.Describe(pairs)
	if l.idHeader == "" {
		return nil
	}
	return s.Identify(l.idHeader, r.Header[l.idHeader])
}

// ask has the checker decide about r.
func (l *limiter) ask(s *state, r *http.Request) error {
	if err := s.fill(l, r); err != nil {
		return admission.Unattributed(err)
	}
	return s.Ask(r.Context())
}

// setHeaders sets the fields that tell of the decision.
func (s *state) setHeaders(h http.Header) respond.Answer {
	now := s.Decision.At
	if now == 0 {
		now = weir.MicrosAt(time.Now())
	}
	a := respond.To(&s.Decision, now, rand.Int64N)
	s.fields.Set(&a, h)
	return a
}
