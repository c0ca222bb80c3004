package limiter

import (
	"context"
	"crypto/rand"

	"github.com/weirlimit/weir"
)

// Acquire takes one unit of every limit, and of those of concurrency until
// release is called:
//
//	d, release, err := lim.Acquire(ctx, tenant)
//	defer release()
//	if err != nil || !d.Allowed() { ... }
//
// release is never nil and may be called more than once, also after a denial and
// after an error, when a unit may have been taken whose answer was lost; it does not
// depend on ctx. A unit that is not released, because the program
// died or because releasing failed, is free again after the limit's window.
// Limits other than those of concurrency keep what they were charged.
//
// To name the holder yourself, for example to release in another process, use
// Check with an ID, and Release. Checking again with that ID renews the hold.
func (l *Limiter) Acquire(ctx context.Context, key string) (d weir.Decision, release func() error, err error) {
	release = func() error { return nil }
	if !l.holds {
		return d, release, invalid("limits", "none is of concurrency: there is nothing to release", "use Allow")
	}
	id := rand.Text()
	err = l.check(ctx, &Ask{Key: key, Cost: 1, ID: id}, &d, false)
	if d.Allowed() || mayHold(err) {
		release = func() error { return l.Release(context.WithoutCancel(ctx), key, id) }
	}
	return d, release, err
}

// mayHold tells the errors after which a unit may have been taken, and the answer lost.
func mayHold(err error) bool {
	switch weir.CodeOf(err) {
	case weir.CodeTimeout, weir.CodeRefused, weir.CodeProtocol, weir.CodeCanceled, weir.CodeInternal:
		return err != nil
	}
	return false
}

// Release ends what the request of that id holds of the limits of concurrency.
// It is not an error when that is nothing.
func (l *Limiter) Release(ctx context.Context, key, id string) error {
	a := Ask{Key: key, Cost: 1, Mode: weir.Refund, ID: id, holdsOnly: true}
	if !l.holds {
		return l.validate(&a) // and there is nothing to release
	}
	var d weir.Decision
	return l.check(ctx, &a, &d, false)
}
