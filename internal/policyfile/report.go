package policyfile

import (
	"encoding/hex"
	"reflect"
	"time"

	"github.com/weirlimit/weir/policy"
)

// State is how a file stands.
type State string

// The states.
const (
	Current State = "current"  // what it says is in service
	Stale   State = "stale"    // an older version of it is in service
	LeftOut State = "left_out" // nothing of it is in service
)

// Report is what a load found: the state of every file, and what is wrong. It
// is shared and must not be changed.
type Report struct {
	// Version is that of the set in service, empty when there is none.
	Version string        `json:"version"`
	At      time.Time     `json:"at"`      // when the pass ended
	Took    time.Duration `json:"took_ns"` // how long it took
	// Rejected: with Compat, one bad file kept the whole load out of service; or
	// no set could be made of the files. What was in service stays.
	Rejected bool   `json:"rejected,omitempty"`
	Files    []File `json:"files"`
	// Problems are those of no single file, such as a path that does not exist.
	Problems []policy.Problem `json:"problems,omitempty"`
	// Polling says why file events cannot be relied on, empty when they can. A
	// change is then seen at the next poll.
	Polling string `json:"polling,omitempty"`
	// CacheError says why the contents in service are not kept for the next start.
	CacheError string `json:"cache_error,omitempty"`
}

// File is one file of a Report.
type File struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Sum is the SHA-256, in hexadecimal, of the contents in service, and
	// LoadedAt when they were first read.
	Sum      string    `json:"sha256,omitempty"`
	LoadedAt time.Time `json:"loaded_at,omitzero"`
	// Cached: the contents in service are known from the last run alone.
	Cached bool `json:"cached,omitempty"`
	// Since is when what is in service ceased to be what the file says.
	Since time.Time `json:"since,omitzero"`
	// Problems are what is wrong with what the file says now, and warnings.
	Problems []policy.Problem `json:"problems,omitempty"`
}

// OK tells whether all that is written is in service. There may be warnings.
func (r *Report) OK() bool {
	if r.Rejected || policy.HasErrors(r.Problems) {
		return false
	}
	for i := range r.Files {
		if r.Files[i].State != Current {
			return false
		}
	}
	return true
}

// All returns every problem: those of no file first, then in the order of files.
func (r *Report) All() []policy.Problem {
	all := append([]policy.Problem(nil), r.Problems...)
	for i := range r.Files {
		all = append(all, r.Files[i].Problems...)
	}
	return all
}

// same tells whether two reports say the same, apart from when.
func (r Report) same(o Report) bool {
	r.At, r.Took = o.At, o.Took
	return reflect.DeepEqual(r, o)
}

// report describes the state after a pass.
func (l *Loader) report(g *gathered, c *choice) Report {
	r := Report{Rejected: c.rejected, Files: make([]File, 0, len(c.entries))}
	if c.set != nil {
		r.Version = c.set.Version()
	}
	if g.watching != nil {
		r.Polling = g.watching.Error()
	}
	told := make(map[string]bool)
	for _, e := range c.entries {
		told[e.key] = true
		r.Files = append(r.Files, l.describe(e))
	}
	for _, t := range g.troubles {
		if !told[t.key] {
			r.Problems = append(r.Problems, t.problem)
		}
	}
	for _, e := range g.view.empty {
		r.Problems = append(r.Problems, warning(e.name, "no-files", "has no policy file", "policy files end in .yaml, .yml or .json"))
	}
	r.Problems = append(append(r.Problems, c.problems...), l.notes...)
	return r
}

func (l *Loader) describe(e *entry) File {
	f := File{Name: e.name, State: LeftOut, Since: l.since[e.key]}
	if e.seen != nil {
		f.Problems = append(f.Problems, e.seen.problems...)
	}
	if e.wrong != nil {
		f.Problems = append(f.Problems, *e.wrong)
	}
	f.Problems = append(f.Problems, e.cross...)
	if e.pick == nil {
		return f
	}
	if f.State = Stale; e.isSeen() {
		f.State = Current
	}
	f.Sum, f.LoadedAt, f.Cached = hex.EncodeToString(e.pick.sum[:]), e.pick.at, e.pick.cached
	return f
}
