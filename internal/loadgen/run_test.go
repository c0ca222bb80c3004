package loadgen

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
)

// server answers each request after some time, which may depend on the instant.
type server struct {
	weir.Checker
	began time.Time
	take  func(at time.Duration) time.Duration // below 0: never
	err   error
}

func (s *server) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	took := s.take(time.Since(s.began))
	if took < 0 {
		return
	}
	*d = weir.Decision{Verdict: weir.Allow, Source: weir.SourceStore}
	if r.Domain == "1" {
		*d = weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded, Source: weir.SourceBackstop}
	}
	time.AfterFunc(took, func() { done(s.err) })
}

func after(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

func tryRun(t *testing.T, ctx context.Context, s *server, l Load) *Result {
	t.Helper()
	s.began = time.Now()
	if l.Fill == nil {
		l.Fill = func(key uint64, r *weir.Request) { r.Domain = fmt.Sprint(key) }
	}
	r, err := Run(ctx, s, l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunCountsEveryAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := 0
		r := tryRun(t, t.Context(), &server{take: after(2 * time.Millisecond)}, Load{
			Rate: 1000, For: 2 * time.Second, Keys: Keys{Seed: 7, Count: 2},
			Answered: func(a Answer) {
				answers++
				if (a.Key == 0) != a.Decision.Allowed() || a.Took != 2*time.Millisecond {
					t.Errorf("answer %+v", a)
				}
			},
		})
		s := &r.Total
		if s.Due != 2000 || s.Sent != 2000 || s.Answered != 2000 || answers != 2000 || s.Late+s.Errors != 0 {
			t.Errorf("total %+v, %d answers", s, answers)
		}
		if s.Allowed+s.Denied != 2000 || s.Denied != s.Degraded || s.BySource[weir.SourceBackstop] != s.Denied || s.Denied < 800 {
			t.Errorf("total %+v", s)
		}
		if len(r.Steps) != 20 || r.Steps[3].Due != 100 || r.Steps[3].Rate(r.Load.Step) != 1000 {
			t.Errorf("%d steps, the fourth %+v", len(r.Steps), r.Steps[3].Due)
		}
		if r.Attained() != 1 {
			t.Errorf("attained %v", r.Attained())
		}
	})
}

// A server that stops for a second makes all that were due in it slow, though
// none of them could be sent: that is what a closed loop does not see.
func TestRunSeesWhatWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{take: after(time.Millisecond)}
		held := false
		r := tryRun(t, t.Context(), s, Load{
			Rate: 1000, For: 10 * time.Second,
			Fill: func(uint64, *weir.Request) {
				if !held && time.Since(s.began) > 5*time.Second {
					held = true
					time.Sleep(time.Second) // the sender is held up
				}
			},
		})
		if got := r.Total.Latency.Quantile(0.95); got < 400*time.Millisecond {
			t.Errorf("p95 = %v of a run with a tenth held up for up to 1 s", got)
		}
		if got := r.Total.Latency.Quantile(0.5); got > 2*time.Millisecond {
			t.Errorf("p50 = %v", got)
		}
		if r.Total.Answered != 10_000 || r.Total.Late < 850 || r.Total.Late > 950 {
			t.Errorf("answered %d, late %d", r.Total.Answered, r.Total.Late)
		}
		if got := r.Attained(); got < 0.9 || got > 0.92 {
			t.Errorf("attained %v", got)
		}
	})
}

func TestRunIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := tryRun(t, t.Context(), &server{take: after(-1)}, Load{Rate: 100, For: time.Second, Outstanding: 10})
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		if r.Total.Due != 100 || r.Total.Sent != 10 || r.Total.Answered != 0 || r.Attained() != 0 {
			t.Errorf("total %+v", r.Total.Sent)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := tryRun(t, ctx, &server{take: after(0), err: errors.New("no")}, Load{Rate: 100, For: time.Hour})
		if r.Total.Due < 100 || r.Total.Due > 101 || r.Total.Errors != r.Total.Answered || r.Total.FirstError == nil {
			t.Errorf("due %d, errors %d, answered %d", r.Total.Due, r.Total.Errors, r.Total.Answered)
		}
		if r.Load.Step != time.Hour/maxSteps {
			t.Errorf("steps of %v", r.Load.Step)
		}
	})
}

func TestRunRejects(t *testing.T) {
	fill := func(uint64, *weir.Request) {}
	for field, l := range map[string]Load{
		"rate": {For: time.Second, Fill: fill},
		"for":  {Rate: 1, Fill: fill},
		"fill": {Rate: 1, For: time.Second},
	} {
		_, err := Run(t.Context(), &server{}, l)
		if e, ok := errors.AsType[*weir.Error](err); !ok || e.Code != weir.CodeInvalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
