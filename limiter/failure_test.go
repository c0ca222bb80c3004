package limiter

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
)

func TestStoreErrorLeavesUndecided(t *testing.T) {
	f := newFake()
	down := &weir.Error{Code: weir.CodeRefused, Message: "no connection"}
	f.err = down
	for _, store := range []weir.Store{f, &takingFake{fake: f}} {
		l := newLimiter(t, store, "10/s")
		d := weir.Decision{Verdict: weir.Allow, Charges: make([]weir.Charged, 3)}
		err := l.Check(ctx, Ask{Key: "a"}, &d)
		if !errors.Is(err, down) || d.Verdict != 0 || len(d.Charges) != 0 || d.Allowed() {
			t.Errorf("Check = %+v, %v; want the store's error and no verdict", d, err)
		}
	}
}

func TestOnError(t *testing.T) {
	f := newFake()
	for _, store := range []weir.Store{f, &takingFake{fake: f}} {
		f.err = &weir.Error{Code: weir.CodeTimeout}
		strict := newLimiter(t, store, "10/s")
		for _, v := range []weir.Verdict{weir.Allow, weir.Deny} {
			l := strict.WithOnError(v)
			want := weir.Decision{Verdict: v, Reason: weir.ReasonDegraded, Source: weir.SourceBackstop, Rule: "login"}
			if d, err := l.Allow(ctx, "a"); err != nil || !reflect.DeepEqual(d, want) {
				t.Errorf("on error %v: %+v, %v; want %+v", v, d, err, want)
			}
			if err := l.Refund(ctx, "a", 1, ""); weir.CodeOf(err) != weir.CodeTimeout {
				t.Errorf("on error %v: a refund that failed returns %v", v, err)
			}
			// No other choice stays behind, and none is made of nonsense.
			for _, back := range []weir.Verdict{0, 99} {
				if d, err := l.WithOnError(back).Allow(ctx, "a"); err == nil || d.Verdict != 0 {
					t.Errorf("on error %d: %+v, %v; want the error", back, d, err)
				}
			}
		}
		if _, err := strict.Allow(ctx, "a"); err == nil {
			t.Error("WithOnError changed the limiter it was called on")
		}
		f.err = nil
		if d, err := strict.WithOnError(weir.Deny).Allow(ctx, "a"); err != nil || d.Reason != weir.ReasonNone {
			t.Errorf("a store that answers: %+v, %v", d, err)
		}
	}
}

// TestContextThatIsOver: nothing is asked and nothing charged, also by a store
// that never waits.
func TestContextThatIsOver(t *testing.T) {
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	for _, store := range []*takingFake{{fake: newFake()}} {
		l := newLimiter(t, store, "10/s")
		slots := newLimiter(t, store, "1 concurrency m")
		for _, tc := range []struct {
			ctx  context.Context
			code weir.Code
		}{{canceled, weir.CodeCanceled}, {late, weir.CodeTimeout}} {
			d, err := l.Allow(tc.ctx, "a")
			if weir.CodeOf(err) != tc.code || !errors.Is(err, tc.ctx.Err()) || d.Verdict != 0 {
				t.Errorf("%v: %+v, %v", tc.code, d, err)
			}
			if err := slots.Release(tc.ctx, "a", "id"); weir.CodeOf(err) != tc.code {
				t.Errorf("%v: release: %v", tc.code, err)
			}
		}
		open := l.WithOnError(weir.Allow)
		if _, err := open.Allow(canceled, "a"); weir.CodeOf(err) != weir.CodeCanceled {
			t.Errorf("a caller that gave up gets %v, want its own error", err)
		}
		if d, err := open.Allow(late, "a"); err != nil || d.Reason != weir.ReasonDegraded {
			t.Errorf("a deadline that passed: %+v, %v; want the fail mode", d, err)
		}
		if store.took != 0 || len(store.states) != 0 {
			t.Errorf("the store was asked %d times and holds %v", store.took, store.states)
		}
	}
}

func TestTimeoutIsTheBatchsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		l := newLimiter(t, f, "10/s")
		for _, tc := range []struct {
			timeout time.Duration
			want    time.Time
		}{
			{5 * time.Millisecond, time.Now().Add(5 * time.Millisecond)},
			{0, time.Time{}},
			{-1, time.Time{}},
		} {
			if _, err := l.WithTimeout(tc.timeout).Allow(ctx, "a"); err != nil || !f.deadline.Equal(tc.want) {
				t.Errorf("timeout %v: deadline %v, %v; want %v", tc.timeout, f.deadline, err, tc.want)
			}
		}
		if _, err := l.Allow(ctx, "a"); err != nil || !f.deadline.IsZero() {
			t.Errorf("without a timeout: deadline %v, %v", f.deadline, err)
		}
	})
}

// strayStore answers like one that gave up waiting and writes when the answer
// does come.
type strayStore struct {
	*fake
	kept *weir.Batch
}

func (s *strayStore) Decide(ctx context.Context, b *weir.Batch) {
	s.fake.Decide(ctx, b)
	if s.err != nil {
		s.kept = b
	}
}

// TestBatchThatFailedIsNotUsedAgain: its store may write to it yet.
func TestBatchThatFailedIsNotUsedAgain(t *testing.T) {
	s := &strayStore{fake: newFake()}
	l := newLimiter(t, s, "10/h")
	s.err = &weir.Error{Code: weir.CodeTimeout}
	if _, err := l.Allow(ctx, "a"); err == nil {
		t.Fatal("no error")
	}
	s.err = nil
	for i := range 10 {
		late := &s.kept.Entries[0]
		late.Admitted, late.Err = i%2 == 0, errors.New("late")
		if d, err := l.Allow(ctx, "a"); err != nil || d.Remaining != int64(9-i) {
			t.Errorf("request %d: %+v, %v", i, d, err)
		}
		if late.Err == nil {
			t.Error("the batch was used again")
		}
	}
}
