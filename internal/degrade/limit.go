package degrade

import "time"

// tuning is how a Gate's limit is found. All of it is arithmetic on what was
// seen: no clock is read.
type tuning struct {
	most   int64         // never more than this at once
	floor  int64         // however slow the store is, so many are let in
	target time.Duration // a request that took longer was slow
}

// seen is what became of a number of requests.
type seen struct {
	calls, slow int64
	peak        int64 // the most that were under way at once
}

// slowShare is the part of requests, one in so many, that may be slow.
const slowShare = 10

// next returns the limit that follows from what was seen under the last one.
//
//	more than a tenth slow   nine tenths of those that were under way
//	otherwise                a 32nd more, whether or not it was used up
//
// Growth does not wait until the limit is felt: after a store that hung, the
// limit is back before somebody is kept out for nothing. It is not dangerous
// either, since a fall starts from those under way, not from the limit.
func (t *tuning) next(limit int64, s seen) int64 {
	if s.slow > s.calls/slowShare {
		limit = min(limit, s.peak)
		limit -= limit/slowShare + 1
	} else {
		limit += limit/32 + 1
	}
	return min(max(limit, t.floor), t.most)
}

// sample is how many requests are looked at before the limit is changed: as many
// as may be under way, so that the next ones have felt the last change.
func (t *tuning) sample(limit int64) int64 {
	return min(max(limit/4, minSample), maxSample)
}

const (
	minSample = 32
	maxSample = 1024
)
