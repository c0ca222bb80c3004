//go:build !race

package chaos

import (
	"slices"
	"time"
)

// judged is a run that has ended, with what it came to.
type judged struct {
	*rig
	last sample
	out  *outcome
}

// end stops the load and holds what every row must: the load was attained, the
// client had an answer of the server's to every request, and the server has
// counted every degraded one.
func (r *rig) end(name string) *judged {
	r.t.Helper()
	return r.endBeside(name, 0)
}

// endBeside is end where others were given degraded answers as well.
func (r *rig) endBeside(name string, others uint64) *judged {
	r.t.Helper()
	r.finish()
	j := &judged{rig: r, last: r.mark("end")}
	total := &r.result.Total
	span := j.last.at.Sub(r.began) // from before the first was sent until after the last was answered
	j.out = &outcome{name: name, span: span, rate: r.result.Load.Rate, due: total.Due, attained: r.result.Attained()}
	if j.out.attained < attained {
		r.t.Errorf("attained %.2f%% of the load: %d due, %d sent, %d late, %d answered",
			100*j.out.attained, total.Due, total.Sent, total.Late, total.Answered)
	}
	j.out.errors = total.Errors + uint64(r.mu.fell)
	if j.out.errors > 0 {
		r.t.Errorf("%d client errors: %v, %d without an answer of the server: %v", total.Errors, total.FirstError, r.mu.fell, r.mu.lost)
	}
	seen := j.last.less(r.mu.samples[0])
	j.out.degraded = uint64(r.mu.degraded)
	if counted := total0(seen.degraded); counted != j.out.degraded+others {
		r.t.Errorf("%d answers were degraded, and the server counted %d", j.out.degraded+others, counted)
	}
	j.out.storeErrors = seen.storeErrors
	j.out.reasons = seen.degraded
	j.out.p50, j.out.p99 = seen.quantile(0.5), seen.quantile(0.99)
	j.out.extra = extra(r.mu.admitted, span)
	return j
}

func total0(m map[string]float64) uint64 { return uint64(total(m)) }

// inTime holds that 99 of 100 decisions of a stretch took no longer than the
// deadline and the form's slack.
func (j *judged) inTime(what string, from, to sample) {
	j.t.Helper()
	bound := deadline + j.form.slack
	share, err := to.less(from).slower(bound)
	if err != nil {
		j.t.Errorf("%s: %v", what, err)
		return
	}
	j.out.note("%s: %s", what, shareText(share)+" above "+bound.String())
	if share > 0.01 {
		j.t.Errorf("%s: %.2f%% of decisions took more than %v", what, 100*share, bound)
	}
}

// felt holds that a fault had an effect: without it a row shows nothing.
func (j *judged) felt(from, to sample) {
	j.t.Helper()
	if d := to.less(from); total(d.degraded) == 0 && total(d.storeErrors) == 0 {
		j.t.Error("the fault was not felt: no degraded answer and no store error")
	}
}

// unfelt holds that nothing was noticed.
func (j *judged) unfelt(from, to sample) {
	j.t.Helper()
	if d := to.less(from); total(d.degraded) != 0 {
		j.t.Errorf("degraded answers: %v", d.degraded)
	}
}

// visible holds that what clients have been answered so far is in the next
// scrape.
func (r *rig) visible() sample {
	r.t.Helper()
	r.mu.Lock()
	answered, first := r.mu.degraded, r.mu.samples[0]
	r.mu.Unlock()
	s := r.scrape()
	if counted := total0(s.less(first).degraded); int(counted) < answered || counted == 0 {
		r.t.Errorf("%d answers were degraded, and the next scrape shows %d", answered, counted)
	}
	return s
}

// awaitBack lets the load go on until the store answers again, for as long as an
// open breaker may take to look, and then for the form's time after a fault.
func (r *rig) awaitBack() {
	const quiet, bound = 300 * time.Millisecond, lookAgain + recovery
	began := time.Now()
	last, since := -1, began
	for time.Since(began) < bound && time.Since(since) < quiet {
		r.mu.Lock()
		if r.mu.degraded != last {
			last, since = r.mu.degraded, time.Now()
		}
		r.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	r.hold(r.form.after)
}

// backWithin holds that the store answers again, at most so long after the
// instant and until the end, and returns when it did.
func (j *judged) backWithin(from time.Time, bound time.Duration) time.Duration {
	j.t.Helper()
	back := backAfter(j.result, from)
	j.out.back = back
	if back > bound {
		j.t.Errorf("the store answers %.0f%% again %v after it could, want %v", 100*backed, back, bound)
	}
	return back
}

// within holds that no key was given more than a burst too much.
func (j *judged) within(bursts float64) {
	j.t.Helper()
	if j.out.extra > bursts {
		j.t.Errorf("a key was given %.2f bursts more than its limit allows in %v, want at most %v", j.out.extra, j.out.span, bursts)
	}
}

// only holds that the reasons of the fault are these.
func (j *judged) only(known ...string) {
	j.t.Helper()
	for _, m := range []map[string]float64{j.out.reasons, j.out.storeErrors} {
		for reason, n := range m {
			if !slices.Contains(known, reason) {
				j.t.Errorf("%v times the reason %q, want only %q", n, reason, known)
			}
		}
	}
}

// note adds to what the report says of the row.
func (j *judged) note(format string, args ...any) { j.out.note(format, args...) }

// unleaked holds that goroutines were bounded throughout, and that they and the
// connections are no more at the end than they were before, but for a few.
func (j *judged) unleaked(before sample) {
	j.t.Helper()
	const few, many = 20, 200
	most := 0.0
	for _, s := range j.mu.samples {
		most = max(most, s.goroutines)
	}
	j.note("at most %.0f goroutines, %.0f before and %.0f after", most, before.goroutines, j.last.goroutines)
	if most > before.goroutines+many {
		j.t.Errorf("there were %.0f goroutines, and %.0f before", most, before.goroutines)
	}
	if j.last.goroutines > before.goroutines+few || j.last.files > before.files+few {
		j.t.Errorf("%.0f goroutines and %.0f open files at the end, %.0f and %.0f before",
			j.last.goroutines, j.last.files, before.goroutines, before.files)
	}
}
