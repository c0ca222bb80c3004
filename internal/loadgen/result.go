package loadgen

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/latency"
)

// Result is what a run came to.
type Result struct {
	Load  Load
	Began time.Time
	Total Step
	// Steps are the run by when requests were due, Load.Step each.
	Steps []Step
}

// Step counts the requests that were due in a stretch of time. The zero value is
// of none.
type Step struct {
	Due        uint64
	Sent       uint64 // Due less what too many outstanding ones kept back
	Late       uint64 // of Sent: left more than Load.Slack after they were due
	Answered   uint64 // of Sent: with a decision or an error
	Errors     uint64 // of Answered: no decision was made
	Allowed    uint64
	Denied     uint64
	Degraded   uint64 // of Allowed and Denied: by the fail mode, or what stands in for the store
	BySource   [Sources]uint64
	Latency    latency.Histogram // of decisions, from when they were due
	FirstError error
}

// Sources bounds the numbers of weir.Source that are told apart.
const Sources = 16

// Attained is the share of due requests, 0 to 1, that left in time and were
// answered.
func (r *Result) Attained() float64 {
	if r.Total.Due == 0 {
		return 0
	}
	missed := r.Total.Due - r.Total.Answered + r.Total.Late
	return 1 - float64(min(missed, r.Total.Due))/float64(r.Total.Due)
}

// Rate is how many requests a second were answered, of a step or of the whole.
func (s *Step) Rate(span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(s.Answered) / span.Seconds()
}

// count adds an answer that took so long since it was due.
func (s *Step) count(d *weir.Decision, err error, took time.Duration) {
	s.Answered++
	if err != nil {
		s.Errors++
		if s.FirstError == nil {
			s.FirstError = err
		}
		return
	}
	if d.Allowed() {
		s.Allowed++
	} else {
		s.Denied++
	}
	if d.Reason == weir.ReasonDegraded || d.Source == weir.SourceBackstop {
		s.Degraded++
	}
	s.BySource[min(int(d.Source), Sources-1)]++
	s.Latency.Record(took)
}
