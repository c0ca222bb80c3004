package engine

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/stage"
)

// prompt is a store that nobody waits for: it needs no callback.
type prompt interface {
	// Expect is told of the key of a batch that comes soon and has no other, so
	// that memory is fetched meanwhile. DecideNow is given what it returned.
	Expect(key string) (hint uint64)
	// Approach and Fetch are Expect in two steps, between which others are told of.
	// Fetch is given what Approach returned, if that is not 0.
	Approach(key string) (hint uint64)
	Fetch(key string, hint uint64)
	// DecideNow is weir.Store's Submit, done when it returns. at is the time since
	// Started; hint is 0 for a batch that was not expected.
	DecideNow(b *weir.Batch, at time.Duration, hint uint64)
	// ChargeNow is DecideNow for an entry of one charge and no id, without the
	// entry. It returns false, and has done nothing, where that is not enough.
	ChargeNow(c *weir.Charge, at time.Duration, deadline time.Time, hint uint64, o *weir.Outcome) (done bool, err error)
	// Started is an instant of the monotonic clock.
	Started() time.Time
}

// Local answers without the store what it can answer exactly. See
// internal/local.
type Local interface {
	// Try answers a as the store would, and says from what; or returns false and
	// leaves the entry as it was. It is not asked about requests with an id: of
	// those the store may hold an answer already.
	Try(a *stage.Ask) (weir.Source, bool)
	// Learn is told of an entry that the store answered without an error.
	Learn(a *stage.Ask)
	// Forget drops what is known of a key, which was reset.
	Forget(key string)
}

// Backstop answers in the store's place when that does not. See
// internal/degrade.
type Backstop interface {
	// Answer fills the entry as the store would.
	Answer(a *stage.Ask)
	// Learn and Forget are as for Local.
	Learn(a *stage.Ask)
	Forget(key string)
}

// Switch is the operator's: it forces requests through.
type Switch interface {
	// On tells whether anything is forced at all; it is asked once per request.
	On() bool
	// Forced tells whether a rule is, or everything where the rule is empty.
	Forced(domain, rule string) bool
}

// Gate bounds what waits for the store.
type Gate interface {
	// Enter lets a request through, or does not: the fail mode then answers.
	Enter() bool
	// Leave is called once for each that entered. took is from its arrival to the
	// store's answer.
	Leave(took time.Duration)
}
