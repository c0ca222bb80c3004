package policyfile

import (
	"cmp"
	"slices"

	"github.com/weirlimit/weir/policy"
)

// entry is one file in one pass: what it says, what is in service from it, and
// what is chosen to be.
type entry struct {
	name, key, root string

	seen  *version        // what it says now; nil when that cannot be told
	wrong *policy.Problem // why not; nil when it was deleted
	have  *version        // what is in service from it, or nil

	pick  *version         // what is to be in service, nil when nothing
	cross []policy.Problem // what the compiler found between this and other files
}

// served is one file in service.
type served struct {
	name, key, root string
	*version
}

// known is what the last pass learnt of a file, kept so that an unchanged one is
// not read again.
type known struct {
	stamp stamp
	fresh bool // read so soon after its change that the stamp may hide another
	seen  *version
	wrong *policy.Problem
}

// isSeen tells whether what is chosen is what the file says.
func (e *entry) isSeen() bool {
	return e.pick != nil && e.seen != nil && e.pick.sum == e.seen.sum
}

// isHeld tells whether what is chosen is in service already.
func (e *entry) isHeld() bool {
	return e.pick != nil && e.have != nil && e.pick.sum == e.have.sum
}

// entries joins what was found with what is in service. A file in service that
// was not found is there, with the reason, only when trouble hides it; or, with
// all set, in any case.
func (l *Loader) entries(g *gathered, all bool) []*entry {
	byKey := make(map[string]*entry, len(g.view.files))
	var out []*entry
	for i := range g.view.files {
		f := &g.view.files[i]
		k := g.known[f.key]
		e := &entry{name: f.name, key: f.key, root: f.root, seen: k.seen, wrong: k.wrong}
		byKey[f.key] = e
		out = append(out, e)
	}
	for i := range l.served {
		s := &l.served[i]
		if e := byKey[s.key]; e != nil {
			e.have = s.version
			continue
		}
		if wrong := g.hides(s); wrong != nil || all {
			out = append(out, &entry{name: s.name, key: s.key, root: s.root, wrong: wrong, have: s.version})
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(l.rank(a.root), l.rank(b.root)), cmp.Compare(a.key, b.key))
	})
	return out
}

// rank is the place of a root among the paths.
func (l *Loader) rank(key string) int {
	return slices.IndexFunc(l.roots, func(r root) bool { return r.key == key })
}

// hides returns why a file may be there though it was not found, or nil.
func (g *gathered) hides(s *served) *policy.Problem {
	for i := range g.troubles {
		if t := &g.troubles[i]; t.covers(s.key) {
			return &t.problem
		}
	}
	return nil
}

// adopt gives v, when its content is in service already, the parse and the age
// of what is.
func adopt(v, have *version) *version {
	if have == nil || have.sum != v.sum {
		return v
	}
	same := *have
	same.cached = false
	return &same
}
