package token

import (
	"context"
	"time"
)

// Watch fetches the keys until ctx ends: at once if there are none, then every
// Refresh, Retry after a failure, and for tokens whose key is not known no
// sooner than Retry after the fetch before. It calls told, on its own goroutine,
// with nil for new keys and with an error when a fetch fails that did not fail
// the same way before.
func (r *Remote) Watch(ctx context.Context, told func(error)) {
	wait := r.o.Refresh
	if r.Keys() == nil {
		wait = 0
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	last, failure := time.Now(), ""
	if wait == 0 {
		last = last.Add(-r.o.Retry)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.kick:
		case <-r.missed:
			// At most one fetch per Retry, however many tokens ask; they are
			// answered by the one that is due then.
			if early := r.o.Retry - time.Since(last); early > 0 {
				timer.Reset(min(early, until(last, wait)))
				wait = min(wait, r.o.Retry)
				continue
			}
		}
		changed, err := r.Fetch(ctx)
		last, wait = time.Now(), r.o.Refresh
		if err != nil {
			wait = r.o.Retry
		}
		timer.Reset(wait)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && err.Error() != failure:
			failure = err.Error()
			told(err)
		case err == nil && (changed || failure != ""):
			failure = ""
			told(nil)
		}
	}
}

// until is how long it is until wait has passed since last.
func until(last time.Time, wait time.Duration) time.Duration { return max(0, wait-time.Since(last)) }
