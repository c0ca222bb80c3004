package policyfile

import (
	"slices"

	"github.com/weirlimit/weir/policy"
)

// maxRounds is how often files that contradict others are set back before the
// load is given up. Each round sets back all that the compiler blames.
const maxRounds = 16

// choice is what a pass puts into service.
type choice struct {
	entries  []*entry
	byName   map[string]*entry
	set      *policy.Set      // nil when there is nothing to serve
	compiled []policy.Problem // what compiling set gave: warnings
	problems []policy.Problem // that no file is to blame for
	rejected bool             // the load was given up and what was in service stays
}

func newChoice(entries []*entry) *choice {
	c := &choice{entries: entries, byName: make(map[string]*entry, len(entries))}
	for _, e := range entries {
		c.byName[e.name] = e
	}
	return c
}

// choose picks a version of every file, so that they compile together.
func (l *Loader) choose(g *gathered) *choice {
	c := newChoice(l.entries(g, false))
	wrong, some := len(g.troubles) > 0, l.set != nil
	for _, e := range c.entries {
		switch {
		case l.good(e.name, e.seen):
			e.pick, some = e.seen, true
			continue
		case l.good(e.name, e.have):
			e.pick, some = e.have, true
		}
		wrong = true
	}
	if l.opts.Compat && wrong {
		return l.reject(g, nil)
	}
	if wrong && !some {
		return c // an empty set would pass for one that somebody wrote
	}
	if l.tryCompile(c, nil) {
		return c
	}
	if l.opts.Compat {
		return l.reject(g, c.compiled)
	}
	return l.settle(g, c)
}

// settle is for files that contradict each other. Those in service come first,
// then the changed ones in order: the compiler blames the later, which is set
// back to what is in service from it, or left out.
func (l *Loader) settle(g *gathered, c *choice) *choice {
	for range maxRounds {
		byTrust := slices.Clone(c.entries)
		slices.SortStableFunc(byTrust, func(a, b *entry) int { return trust(a) - trust(b) })
		if l.tryCompile(c, byTrust) {
			return c
		}
		if !l.setBack(c) {
			break
		}
	}
	return l.reject(g, c.compiled)
}

// tryCompile makes c's set of its picks, in the order given or else their own.
func (l *Loader) tryCompile(c *choice, order []*entry) bool {
	if l.set != nil && l.isServed(c.entries) {
		c.set, c.compiled = l.set, l.compiled
	} else if order == nil {
		c.set, c.compiled = l.compile(files(c.entries))
	} else if c.set, c.compiled = l.compile(files(order)); c.set != nil {
		// Once more in their own order: the same files make the same set,
		// whichever of them came first.
		if set, ps := l.compile(files(c.entries)); set != nil {
			c.set, c.compiled = set, ps
		}
	}
	if c.set == nil {
		return false
	}
	c.blame(c.compiled)
	return true
}

// reject keeps what is in service, for a load of which ps are the problems.
func (l *Loader) reject(g *gathered, ps []policy.Problem) *choice {
	c := newChoice(l.entries(g, true))
	c.rejected = true
	c.blame(ps)
	some := l.set != nil
	for _, e := range c.entries {
		if l.good(e.name, e.have) {
			e.pick, some = e.have, true
		}
	}
	// Without a set yet, what there is in service is what the last process had.
	if some && !l.tryCompile(c, nil) {
		c.blame(c.compiled)
		for _, e := range c.entries {
			e.pick = nil
		}
	}
	return c
}

// trust orders what is in service before what is not.
func trust(e *entry) int {
	if e.isHeld() {
		return 0
	}
	return 1
}

// blame adds problems to the files they are about.
func (c *choice) blame(ps []policy.Problem) {
	for _, p := range ps {
		if e := c.byName[p.At.File]; e != nil {
			e.cross = append(e.cross, p)
		} else {
			c.problems = append(c.problems, p)
		}
	}
}

// setBack sets every file that the compiler blames back by one step: from what
// it says to what is in service from it, from there to nothing. It reports
// whether that may help: a problem of no file concerns the load as a whole.
func (l *Loader) setBack(c *choice) bool {
	blamed := make(map[*entry]bool)
	for _, p := range c.compiled {
		if p.Warning {
			continue
		}
		e := c.byName[p.At.File]
		if e == nil || e.pick == nil && !blamed[e] {
			return false
		}
		e.cross = append(e.cross, p)
		if blamed[e] {
			continue
		}
		blamed[e] = true
		if !e.isHeld() && l.good(e.name, e.have) {
			e.pick = e.have
		} else {
			e.pick = nil
		}
	}
	return len(blamed) > 0
}

// isServed tells whether what is picked is what is in service.
func (l *Loader) isServed(entries []*entry) bool {
	i := 0
	for _, e := range entries {
		if e.pick == nil {
			continue
		}
		if i == len(l.served) || l.served[i].key != e.key || l.served[i].sum != e.pick.sum {
			return false
		}
		i++
	}
	return i == len(l.served)
}

// files are what the compiler is given, in the order of the entries.
func files(entries []*entry) []*policy.File {
	out := make([]*policy.File, 0, len(entries))
	for _, e := range entries {
		if e.pick != nil {
			out = append(out, e.pick.file)
		}
	}
	return out
}
