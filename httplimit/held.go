package httplimit

import (
	"context"
	"net/http"
	"time"

	"github.com/weirlimit/weir"
)

// serveHeld serves an admitted request with which something is left to do:
// wait before it, or release, refund or charge after it. It takes s over.
func (h *handler) serveHeld(w http.ResponseWriter, r *http.Request, s *state) {
	if h.maxDelay < 0 {
		s.dec.Delay = 0
	}
	if s.dec.Delay.Duration() > max(0, h.maxDelay) {
		s.tooLong(h.maxDelay)
		h.deny(w, r, s)
		h.giveBack(r.Context(), s)
		return
	}
	if !wait(r.Context(), s.dec.Delay.Duration()) {
		// Whose client is gone hears nothing; whose time is up does.
		w.WriteHeader(http.StatusServiceUnavailable)
		h.giveBack(r.Context(), s)
		return
	}
	if h.headers {
		s.setHeaders(w.Header())
	}
	if h.after == nil && h.refund == nil {
		defer h.finish(r, s, nil)
		h.next.ServeHTTP(w, r)
		return
	}
	rec := &recorder{ResponseWriter: w, panicked: true}
	defer h.finish(r, s, rec)
	h.next.ServeHTTP(rec, r)
	rec.panicked = false
}

// finish is what is left to do after the handler, whether it returned or
// panicked. rec is nil when the response does not matter.
func (h *handler) finish(r *http.Request, s *state, rec *recorder) {
	h.release(r.Context(), s)
	if rec == nil {
		h.states.Put(s)
		return
	}
	status, bytes := rec.result()
	units := int64(0)
	switch {
	case h.refund != nil && h.refund(status):
		units = -s.cost
	case h.after != nil:
		units = h.after(r, status, bytes, rec.Header())
	}
	h.settle(r.Context(), s, units)
}

// giveBack undoes an admission. It takes s over.
func (h *handler) giveBack(ctx context.Context, s *state) {
	h.release(ctx, s)
	h.settle(ctx, s, -s.cost)
}

// release gives back what s holds of limits of concurrency, once.
func (h *handler) release(ctx context.Context, s *state) {
	if !s.holds {
		return
	}
	s.holds = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	_, _, err := h.releaser.Release(ctx, &s.req)
	h.tell(err)
}

// wait waits, and tells whether ctx lasted.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// tooLong makes the decision a denial by the limit whose delay is longer than
// most. Once the difference has passed, the delay is not.
func (s *state) tooLong(most time.Duration) {
	d := &s.dec
	d.Verdict, d.Reason, d.Remaining = weir.Deny, weir.ReasonExhausted, 0
	d.RetryAfter = d.Delay - weir.Micros(most/time.Microsecond)
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Outcome.Delay != d.Delay {
			continue
		}
		if c.Rule != d.Rule {
			d.Scope = "" // the other rule's
		}
		d.Rule, d.Limit, d.ResetAfter = c.Rule, c.Limit, c.Outcome.ResetAfter
		break
	}
	d.Delay = 0
}
