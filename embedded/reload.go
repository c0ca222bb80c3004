package embedded

import (
	"context"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/policy"
)

// Reload is what came of reading the files again.
type Reload struct {
	Version  string   // of the policies now in force
	Err      error    // an *weir.Error with every problem; what was good stays in force
	Warnings []string // what is allowed and perhaps not meant, with its position
}

// Reload reads the files now, in place of waiting until a change is noticed,
// and returns what is wrong with them. What was good before stays in force. It
// does nothing after Parse.
func (l *Limits) Reload(ctx context.Context) error {
	if l.loader == nil {
		return nil
	}
	_, _, err := l.loader.Load(ctx)
	if ctx.Err() != nil {
		return &weir.Error{Code: weir.CodeCanceled, Message: "reload policies", Err: err}
	}
	return l.apply()
}

// apply puts what the last pass over the files found in force.
func (l *Limits) apply() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	set, report := l.loader.Current()
	if set != nil && set.Version() != l.engine.Set().Version() {
		l.engine.Swap(set)
	}
	return l.tellLocked(report)
}

func (l *Limits) tell(report policyfile.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.tellLocked(report) // Open has looked
}

// tellLocked logs and tells what is new, and returns what is wrong.
func (l *Limits) tellLocked(report policyfile.Report) error {
	r := Reload{Version: l.engine.Set().Version()}
	problems := report.All()
	for _, p := range problems {
		if p.Warning {
			r.Warnings = append(r.Warnings, p.String())
		}
	}
	if policy.HasErrors(problems) {
		r.Err = problem(problems)
	}
	said := r.Version + "\x00" + strings.Join(r.Warnings, "\x00")
	if r.Err != nil {
		said += "\x00" + r.Err.Error()
	}
	if said == l.mu.last {
		return r.Err
	}
	l.mu.last = said
	for _, w := range r.Warnings {
		l.log.Warn("policy", "problem", w)
	}
	if r.Err != nil {
		l.log.Error("policies are wrong; the last good ones stay in force", "version", r.Version, "error", r.Err)
	} else {
		l.log.Info("policies loaded", "version", r.Version)
	}
	if l.told != nil {
		l.told(r)
	}
	return r.Err
}

// problem makes one error of all problems that are more than a warning.
func problem(all []policy.Problem) error {
	var lines []string
	for _, p := range all {
		if !p.Warning {
			lines = append(lines, p.String())
		}
	}
	return &weir.Error{Code: weir.CodeInvalid, Field: "policies", Message: strings.Join(lines, "\n")}
}
