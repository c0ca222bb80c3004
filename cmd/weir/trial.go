package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/limiter"
)

// maxAuto bounds a trial that goes on until it is denied: a limit may refill
// faster than one caller can ask.
const maxAuto = 5000

// trial is a series of requests of one key.
type trial struct {
	limits  []weir.Limit
	lim     *limiter.Limiter
	key     string
	cost    int64
	count   int           // 0 until two denials in a row
	pace    time.Duration // between two requests
	maxWait time.Duration // longest retry-after to wait for

	ids  string   // what the ids of the requests start with
	held []string // ids that hold a unit of concurrency
}

// attempt is one request of a trial and its answer.
type attempt struct {
	n        int
	decision weir.Decision
	took     time.Duration
	waited   time.Duration // for the retry-after of the attempt before
}

// run sends the requests, then waits for the retry-after of the last if there is
// one, and sends one more.
func (t *trial) run(ctx context.Context, show printer, store string) (err error) {
	t.ids = rand.Text()
	defer func() { err = errors.Join(err, t.release(ctx)) }()
	if err := show.begin(t, store); err != nil {
		return err
	}
	last, err := t.burst(ctx, show)
	if err == nil && last.decision.RetryAfter > 0 && last.decision.RetryAfter != weir.Never {
		err = t.retry(ctx, show, last)
	}
	// Also after an error: what was answered until then is worth seeing.
	return errors.Join(err, show.end())
}

// burst sends the requests but the one after the wait, and returns the last.
func (t *trial) burst(ctx context.Context, show printer) (last attempt, err error) {
	start, denied := time.Now(), 0
	for n := 1; ; n++ {
		if err := sleep(ctx, time.Until(start.Add(time.Duration(n-1)*t.pace))); err != nil {
			return last, err
		}
		if last, err = t.ask(ctx, n); err != nil {
			return last, err
		}
		if err := show.attempt(last); err != nil {
			return last, err
		}
		denied++
		if last.decision.Allowed() {
			denied = 0
		}
		if n == t.count || t.count == 0 && (denied == 2 || n == maxAuto || t.cost == 0) {
			return last, nil
		}
	}
}

// retry waits for as long as the last answer said, and no longer.
func (t *trial) retry(ctx context.Context, show printer, last attempt) error {
	wait := last.decision.RetryAfter.Duration()
	if err := show.waits(wait, wait <= t.maxWait); err != nil || wait > t.maxWait {
		return err
	}
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	a, err := t.ask(ctx, last.n+1)
	if err != nil {
		return err
	}
	a.waited = wait
	return show.attempt(a)
}

// ask sends one request. A cost of 0 only looks.
func (t *trial) ask(ctx context.Context, n int) (attempt, error) {
	ask := limiter.Ask{Key: t.key, Cost: t.cost}
	if t.cost == 0 {
		ask.Mode = weir.Peek
	} else if t.holds() {
		ask.ID = t.ids + "-" + strconv.Itoa(n)
	}
	a := attempt{n: n}
	begin := time.Now()
	err := t.lim.Check(ctx, ask, &a.decision)
	a.took = time.Since(begin)
	if a.decision.Allowed() && ask.ID != "" {
		t.held = append(t.held, ask.ID)
	}
	return a, err
}

// release ends what the trial holds, also after an interrupt: others wait for it.
func (t *trial) release(ctx context.Context) error {
	var failed error
	for _, id := range t.held {
		failed = errors.Join(failed, t.lim.Release(context.WithoutCancel(ctx), t.key, id))
	}
	return failed
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
