package limiter

import (
	"context"
	"slices"
	"testing"

	"github.com/weirlimit/weir"
)

func TestAcquireAndRelease(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "2 concurrency m", "10/h")
	var releases []func() error
	for range 2 {
		d, release, err := l.Acquire(ctx, "a")
		if err != nil || !d.Allowed() {
			t.Fatalf("acquire: %+v, %v", d, err)
		}
		releases = append(releases, release)
	}
	d, release, err := l.Acquire(ctx, "a")
	if err != nil || d.Verdict != weir.Deny || d.RetryAfter != weir.Minute {
		t.Errorf("a third: %+v, %v", d, err)
	}
	if err := release(); err != nil {
		t.Errorf("release after a denial: %v", err)
	}
	if d, err := l.Peek(ctx, "a"); err != nil || d.Verdict != weir.Deny {
		t.Errorf("the release of a denied request freed something: %+v, %v", d, err)
	}
	for range 2 { // the second call frees nothing
		if err := releases[0](); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(f.modes, []weir.Mode{weir.Refund}) {
		t.Errorf("release charged %v, want one refund: the rate keeps what it was charged", f.modes)
	}
	if d, err := l.Peek(ctx, "a"); err != nil || !d.Allowed() || d.Remaining != 1 {
		t.Errorf("after two releases of one unit: %+v, %v", d, err)
	}
}

func TestReleaseOutlivesItsContext(t *testing.T) {
	l := newLimiter(t, newFake(), "1 concurrency m")
	request, cancel := context.WithCancel(ctx)
	_, release, err := l.Acquire(request, "a")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := release(); err != nil {
		t.Errorf("release after the request's end: %v", err)
	}
	if d, err := l.Peek(ctx, "a"); err != nil || !d.Allowed() {
		t.Errorf("the unit is still held: %+v, %v", d, err)
	}
}

func TestAbandonedUnitsComeBack(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "1 concurrency 30s")
	if d, _, err := l.Acquire(ctx, "a"); err != nil || !d.Allowed() {
		t.Fatalf("%+v, %v", d, err)
	}
	f.now += 30*weir.Second - 1
	if d, _, err := l.Acquire(ctx, "a"); err != nil || d.RetryAfter != 1 {
		t.Errorf("just before the timeout: %+v, %v", d, err)
	}
	f.now++
	if d, _, err := l.Acquire(ctx, "a"); err != nil || !d.Allowed() {
		t.Errorf("at the timeout: %+v, %v", d, err)
	}
}

func TestReleaseByID(t *testing.T) {
	l := newLimiter(t, newFake(), "1 concurrency m")
	var d weir.Decision
	for range 2 { // the same holder again renews
		if err := l.Check(ctx, Ask{Key: "a", ID: "job-1"}, &d); err != nil || !d.Allowed() {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	if err := l.Check(ctx, Ask{Key: "a", ID: "job-2"}, &d); err != nil || d.Verdict != weir.Deny {
		t.Errorf("another holder: %+v, %v", d, err)
	}
	if err := l.Release(ctx, "a", "job-2"); err != nil {
		t.Errorf("release of nothing: %v", err)
	}
	if err := l.Check(ctx, Ask{Key: "a", ID: "job-2"}, &d); err != nil || d.Verdict != weir.Deny {
		t.Errorf("job-2 released what job-1 holds: %+v, %v", d, err)
	}
	if err := l.Release(ctx, "a", "job-1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(ctx, Ask{Key: "a", ID: "job-2"}, &d); err != nil || !d.Allowed() {
		t.Errorf("after the release: %+v, %v", d, err)
	}
	if err := l.Release(ctx, "a", ""); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("release without an id: %v", err)
	}
}

func TestAcquireNeedsAConcurrencyLimit(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "10/s")
	d, release, err := l.Acquire(ctx, "a")
	if weir.CodeOf(err) != weir.CodeInvalid || d.Verdict != 0 || release == nil {
		t.Errorf("Acquire = %+v, %v", d, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := l.Release(ctx, "a", "id"); err != nil || len(f.states) != 0 {
		t.Errorf("release of a limiter without concurrency: %v, states %v", err, f.states)
	}
}

// losing decides, and loses the first answer.
type losing struct {
	weir.Store
	lost bool
}

func (l *losing) Decide(ctx context.Context, b *weir.Batch) {
	l.Store.Decide(ctx, b)
	if !l.lost {
		l.lost, b.Entries[0].Err = true, &weir.Error{Code: weir.CodeTimeout}
	}
}

// TestReleaseAfterLostAnswer: nobody else knows the id that holds the unit.
func TestReleaseAfterLostAnswer(t *testing.T) {
	l := newLimiter(t, &losing{Store: newFake()}, "1 concurrency h")
	_, release, err := l.Acquire(ctx, "a")
	if weir.CodeOf(err) != weir.CodeTimeout {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if d, _, err := l.Acquire(ctx, "a"); err != nil || !d.Allowed() {
		t.Errorf("after the release: %v, %v", d.Verdict, err)
	}
}

// TestReleaseAfterFailingOpen: the store may have counted it before it failed.
func TestReleaseAfterFailingOpen(t *testing.T) {
	f := newFake()
	l := newLimiter(t, f, "1 concurrency m").WithOnError(weir.Allow)
	f.err = &weir.Error{Code: weir.CodeTimeout}
	d, release, err := l.Acquire(ctx, "a")
	if err != nil || d.Reason != weir.ReasonDegraded {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := release(); weir.CodeOf(err) != weir.CodeTimeout {
		t.Errorf("release on a store that is down: %v", err)
	}
	f.err, f.modes = nil, nil
	if err := release(); err != nil || !slices.Equal(f.modes, []weir.Mode{weir.Refund}) {
		t.Errorf("release on a store that is back: %v, asked for %v", err, f.modes)
	}
}
