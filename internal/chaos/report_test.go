package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirlimit/weir/internal/loadgen"
)

// outcome is what a row measured.
type outcome struct {
	name          string
	span          time.Duration
	rate          int
	due           uint64
	attained      float64
	errors        uint64 // clients without an answer of the server's
	degraded      uint64
	reasons       map[string]float64
	storeErrors   map[string]float64
	p50, p99      time.Duration // at the server, as the bound of their bucket
	extra         float64       // bursts beyond burst + rate x T, of the worst key
	back          time.Duration // until the store answered again; 0 where not asked
	notes         []string
	failed        bool
	attempts      int    // until it held; those before were on a machine that disturbed them
	fault, bounds string // of the row
	after         string // what the report has below the row's table; "" for nothing
}

func (o *outcome) note(format string, args ...any) {
	o.notes = append(o.notes, fmt.Sprintf(format, args...))
}

// cells is the outcome as a row of a table.
func (o *outcome) cells() string {
	verdict := "held"
	if o.attempts > 1 {
		verdict = fmt.Sprintf("held at attempt %d", o.attempts)
	}
	if o.failed {
		verdict = "**broken**"
	}
	return fmt.Sprintf("| %s | %s | %d in %s, %s attained | %d | %d (%s) | %s | %s | %s | %s |",
		o.name, verdict, o.due, o.span.Round(100*time.Millisecond), shareText(o.attained), o.errors,
		o.degraded, countsText(o.reasons), durationText(o.p50), durationText(o.p99), extraText(o.extra), strings.Join(o.notes, "; "))
}

// again is which rows needed more than one attempt, and how many.
func again(outcomes []*outcome) string {
	var rows []string
	for _, o := range outcomes {
		if o.attempts > 1 {
			rows = append(rows, fmt.Sprintf("%s (%d attempts)", o.name, o.attempts))
		}
	}
	if len(rows) == 0 {
		return fmt.Sprintf("none of %d rows was tried again", len(outcomes))
	}
	return fmt.Sprintf("%d of %d rows were tried again: %s", len(rows), len(outcomes), strings.Join(rows, ", "))
}

// summary is what is printed in any case.
func summary(f form, outcomes []*outcome, took time.Duration) string {
	held := 0
	for _, o := range outcomes {
		if !o.failed {
			held++
		}
	}
	return fmt.Sprintf("chaos: %s form: %d of %d rows held in %v; %s", f.name, held, len(outcomes), took.Round(time.Second), again(outcomes))
}

func extraText(bursts float64) string {
	if bursts <= 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f", bursts)
}

func durationText(d time.Duration) string {
	if d >= time.Hour {
		return "> 1s"
	}
	return "<= " + d.String()
}

func shareText(s float64) string { return fmt.Sprintf("%.2f%%", 100*s) }

func countsText(m map[string]float64) string {
	if len(m) == 0 {
		return "none"
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %.0f", k, m[k]))
	}
	return strings.Join(out, ", ")
}

// mark is something done to the store, or seen.
type mark struct {
	at   time.Time
	what string
}

// timeline is a run per step, with what was done beside it.
func timeline(r *loadgen.Result, samples []sample, marks []mark, pulses []pulse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d requests a second, step %v\n", r.Load.Keys.Seed, r.Load.Rate, r.Load.Step)
	fmt.Fprintf(&b, "%8s %8s %9s %7s %9s %9s %9s  %s\n", "at", "rate/s", "degraded", "errors", "p50", "p99", "machine", "store errors, breakers; what was done")
	next := 0
	for i := range r.Steps {
		s := &r.Steps[i]
		at := time.Duration(i) * r.Load.Step
		until := r.Began.Add(at + r.Load.Step)
		share := 0.0
		if s.Answered > 0 {
			share = float64(s.Degraded) / float64(s.Answered)
		}
		fmt.Fprintf(&b, "%8s %8.0f %9s %7d %9s %9s %9s  %s", at, s.Rate(r.Load.Step), shareText(share), s.Errors,
			s.Latency.Quantile(0.5).Round(time.Microsecond), s.Latency.Quantile(0.99).Round(time.Microsecond),
			latest(pulses, until.Add(-r.Load.Step), until).Round(time.Microsecond), between(samples, until, r.Load.Step))
		for ; next < len(marks) && marks[next].at.Before(until); next++ {
			fmt.Fprintf(&b, " [%s]", marks[next].what)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// between is what the samples of the step that ends at an instant tell.
func between(samples []sample, until time.Time, step time.Duration) string {
	last := slices.IndexFunc(samples, func(s sample) bool { return s.at.After(until) })
	first := slices.IndexFunc(samples, func(s sample) bool { return s.at.After(until.Add(-step)) })
	if last < 1 || first < 1 || first > last {
		return ""
	}
	text := ""
	if d := samples[last].less(samples[first-1]); total(d.storeErrors) > 0 {
		text = countsText(d.storeErrors)
	}
	for _, shard := range slices.Sorted(maps.Keys(samples[last].breakers)) {
		text += fmt.Sprintf(" %s=%s", shard, breakerName(samples[last].breakers[shard]))
	}
	return text
}

// breakerName is what the number of a breaker's state means.
func breakerName(v float64) string {
	names := []string{"closed", "open", "half-open"}
	if v < 0 || int(v) >= len(names) {
		return fmt.Sprint(v)
	}
	return names[int(v)]
}
