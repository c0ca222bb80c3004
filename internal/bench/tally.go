package bench

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weirlimit/weir/internal/h2client"
	"github.com/weirlimit/weir/internal/latency"
)

// Failures besides those of h2client.
const (
	failUndecided = h2client.Failures + iota // the server answered that it could not decide, or had nothing to decide by
	failUnsent                               // due, and never sent: too many were under way until the end
	failures
)

func failureName(f h2client.Failure) string {
	switch f {
	case failUndecided:
		return "undecided"
	case failUnsent:
		return "unsent"
	}
	return f.String()
}

// tally counts what was due after the warm-up, for one connection.
type tally struct {
	mu struct {
		sync.Mutex
		allowed, denied uint64
		failed          [failures]uint64
		detail          [failures]string // of the first
		latency         latency.Histogram
		answers         uint64        // all, those of the warm-up too
		failures        uint64        // of them
		unheard         uint64        // failures since the last decision, or word that there is none
		heard           time.Duration // when that was
	}
}

// count adds an answer. A request that had none in its time took at least so
// long: left out, it would make the others look better.
func (t *tally) count(a *h2client.Answer, counted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	failure := a.Failure
	if failure == h2client.OK && a.Verdict <= unruled {
		failure = failUndecided
	}
	t.mu.answers++
	t.mu.unheard++
	if failure != h2client.OK {
		t.mu.failures++
	}
	if failure == h2client.OK || failure == failUndecided { // the server is there
		t.mu.unheard, t.mu.heard = 0, max(t.mu.heard, a.Now)
	}
	if !counted {
		return
	}
	switch {
	case failure != h2client.OK:
		if t.mu.failed[failure]++; t.mu.failed[failure] == 1 {
			t.mu.detail[failure] = detailOf(a)
		}
		if failure != h2client.Timeout && failure != failUnsent {
			return
		}
	case a.Verdict == allowed:
		t.mu.allowed++
	default:
		t.mu.denied++
	}
	t.mu.latency.Record(max(a.Now-a.Due, 0))
}

func detailOf(a *h2client.Answer) string {
	switch {
	case a.Verdict == unruled:
		return "allowed because no limit applies: is there a policy for the domain and the names?"
	case a.Code != 0:
		return strings.TrimSpace(fmt.Sprintf("code %d %s", a.Code, a.Detail))
	}
	return a.Detail
}

// sum adds up tallies, and tells when the server was last heard of.
func sum(ts []*tally) (r *Result, heard time.Duration) {
	r = &Result{Failed: map[string]uint64{}, Details: map[string]string{}}
	answered, unheard := 0, 0
	for _, t := range ts {
		t.mu.Lock()
		if t.mu.answers > 0 {
			answered++
		}
		if t.mu.unheard > 0 {
			unheard++
		}
		heard = max(heard, t.mu.heard)
		r.Allowed += t.mu.allowed
		r.Denied += t.mu.denied
		r.Latency.Merge(&t.mu.latency)
		for f, n := range t.mu.failed {
			if n == 0 {
				continue
			}
			name := failureName(h2client.Failure(f))
			r.Failed[name] += n
			if r.Details[name] == "" {
				r.Details[name] = t.mu.detail[f]
			}
		}
		t.mu.Unlock()
	}
	r.Gone = unheard > 0 && unheard == answered
	return r, heard
}

// Result is what a run came to. Requests count by when they were due.
type Result struct {
	Plan    Plan
	Allowed uint64
	Denied  uint64
	// Failed are the requests without a decision, by why, and Details what was
	// said of the first of each.
	Failed  map[string]uint64
	Details map[string]string
	// Gone is that the last answers over every connection were none: the server
	// ended, or stands still. In a closed loop that is few failures, for nobody
	// asks meanwhile.
	Gone    bool
	Latency latency.Histogram // of decisions, and of what had none in its time
	Took    time.Duration     // without the warm-up, and what came after the last answer of a server that is Gone
	Numbers int64             // requests that were due in all, the warm-up included
	CPU     []CPU
}

// CPU is the processor time that a process used for a request.
type CPU struct {
	Process
	Used       time.Duration
	PerRequest time.Duration
}

// Decided is how many decisions were made.
func (r *Result) Decided() uint64 { return r.Allowed + r.Denied }

// Failures is how many requests had none.
func (r *Result) Failures() (n uint64) {
	for _, f := range r.Failed {
		n += f
	}
	return n
}

// Rate is decisions a second.
func (r *Result) Rate() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Decided()) / r.Took.Seconds()
}
