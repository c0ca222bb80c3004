package policyfile

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/weirlimit/weir/policy"
)

// version is one content of one file. It is immutable once parsed.
type version struct {
	data   []byte
	sum    [sha256.Size]byte
	at     time.Time // when it was first read
	cached bool      // known from the cache alone

	parsed   bool
	file     *policy.File     // nil when it does not parse
	problems []policy.Problem // of parsing, also warnings
}

func newVersion(data []byte, at time.Time) *version {
	return &version{data: data, sum: sha256.Sum256(data), at: at}
}

// good tells whether v can be in service. It parses v if need be.
func (l *Loader) good(name string, v *version) bool {
	if v == nil {
		return false
	}
	if !v.parsed {
		v.file, v.problems = l.parse(name, v.data)
		v.parsed = true
		if policy.HasErrors(v.problems) {
			v.file = nil
		}
	}
	return v.file != nil
}

// parse is Options.Parse, which must not take the process down with it.
func (l *Loader) parse(name string, data []byte) (f *policy.File, ps []policy.Problem) {
	defer func() {
		if r := recover(); r != nil {
			f, ps = nil, append(ps, problem(name, "internal", fmt.Sprintf("the parser failed on it: %v", r), "report this as a bug"))
		}
	}()
	f, ps = l.opts.Parse(name, data)
	if f == nil && !policy.HasErrors(ps) {
		ps = append(ps, problem(name, "internal", "the parser gave no result and no reason", "report this as a bug"))
	}
	return f, ps
}

// compile is Options.Compile, with the same care. A set comes without errors or
// not at all.
func (l *Loader) compile(files []*policy.File) (set *policy.Set, ps []policy.Problem) {
	defer func() {
		if r := recover(); r != nil {
			set, ps = nil, append(ps, problem("", "internal", fmt.Sprintf("the compiler failed: %v", r), "report this as a bug"))
		}
	}()
	set, ps = l.opts.Compile(files)
	switch {
	case policy.HasErrors(ps):
		return nil, ps
	case set == nil:
		return nil, append(ps, problem("", "internal", "the compiler gave no result and no reason", "report this as a bug"))
	}
	return set, ps
}
