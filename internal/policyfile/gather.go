package policyfile

import (
	"context"
	"path/filepath"
	"slices"
)

// maxTries is how often a pass begins again because files changed under it.
const maxTries = 3

// gathered is what one pass learnt of the files.
type gathered struct {
	view     *view
	known    map[string]known // by key
	troubles []trouble
	// restless: files changed at every try; another pass is due.
	restless bool
	watching error // why not every change will be told by an event
}

// gather looks at the files and reads those that changed, or all with force.
// What it returns was there at one instant, unless it is restless.
func (l *Loader) gather(ctx context.Context, ev events, force bool) (*gathered, error) {
	for try := 1; ; try++ {
		g := &gathered{view: l.look(), known: make(map[string]known)}
		if ev != nil { // before reading: a change after it is then told by an event
			g.watching = ev.watch(g.view.places)
		}
		torn, err := l.readAll(ctx, g, force)
		if err != nil {
			return nil, err
		}
		g.troubles = l.troubles(g.view)
		if !torn && l.look().same(g.view) {
			return g, nil
		}
		if try == maxTries {
			g.restless = true
			return g, nil
		}
	}
}

func (l *Loader) look() *view {
	s := scanner{
		names: l.names(), most: l.bounds, skip: filepath.Join(l.opts.CacheDir, cacheName),
		view: view{places: make(places)}, visited: make(map[string]bool),
	}
	for _, r := range l.roots {
		s.scanRoot(r)
	}
	return &s.view
}

// readAll fills g.known.
func (l *Loader) readAll(ctx context.Context, g *gathered, force bool) (torn bool, err error) {
	have := make(map[string]*version, len(l.served))
	for _, s := range l.served {
		have[s.key] = s.version
	}
	room := l.bounds.total
	for i := range g.view.files {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		f := &g.view.files[i]
		k, ok := l.known[f.key]
		if !ok || force || k.fresh || k.stamp != f.stamp {
			var tornHere bool
			k, tornHere = l.readOne(f, k.seen, have[f.key], room)
			torn = torn || tornHere
		}
		room -= f.stamp.size
		g.known[f.key] = k
	}
	return torn, nil
}

// readOne reads f, and recognises what it said before or what is in service.
func (l *Loader) readOne(f *found, before, have *version, room int64) (k known, torn bool) {
	now := instant()
	r := read(f, room)
	k = known{stamp: f.stamp, fresh: f.stamp.fresh(now), wrong: r.wrong}
	if r.wrong != nil {
		// Not to be read may change without a trace in the stamp.
		k.fresh = true
		return k, r.torn
	}
	v := newVersion(r.data, now)
	if before != nil && before.sum == v.sum {
		v = before
	} else {
		v = adopt(v, have)
	}
	if !l.good(f.name, v) {
		v.data = nil // of no further use
	}
	k.seen = v
	return k, r.torn
}

// troubles are all places that could not be looked into, and those where
// nothing is found though the cache knows of something: at a start that is a
// volume that is not mounted rather than a deletion.
func (l *Loader) troubles(v *view) []trouble {
	out := slices.Clone(v.troubles)
	for _, r := range v.empty {
		if slices.ContainsFunc(l.served, func(s served) bool { return s.cached && s.root == r.key }) {
			out = append(out, trouble{r.key, problem(r.name, "no-files", "has no policy file any more",
				"put the files back; to start without them, remove the cache")})
		}
	}
	return out
}

func (l *Loader) names() names { return names{all: l.opts.Compat, dots: l.opts.DotFiles} }
