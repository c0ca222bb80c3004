package policyfile

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// Loader loads policies and keeps them current. It is safe for concurrent use.
type Loader struct {
	opts     Options
	bounds   bounds
	roots    []root
	reload   chan struct{}
	watching atomic.Bool

	// pass is held while files are looked at. It guards what follows, which only
	// passes use. Lock order: pass, then mu.
	pass     sync.Mutex
	started  bool
	view     *view            // of the last pass
	known    map[string]known // by key
	since    map[string]time.Time
	served   []served // in order
	set      *policy.Set
	compiled []policy.Problem // warnings about set
	last     *choice
	notes    []policy.Problem // about the cache, as it was found
	saved    digest           // of what is in the cache

	mu struct {
		sync.Mutex
		set    *policy.Set
		report Report
	}
}

// Load looks at the files once and returns the set to serve, which may hold
// last good versions: the Report says of which files. The error is ctx's, or a
// *weir.Error when there is nothing to serve: no file is good and none is known
// from before. The set is then nil, and Watch will give one once there is.
func (l *Loader) Load(ctx context.Context) (*policy.Set, Report, error) {
	if _, err := l.run(ctx, nil, true); err != nil {
		return nil, Report{}, fmt.Errorf("load policies: %w", err)
	}
	l.save()
	set, report := l.Current()
	if set == nil {
		return nil, report, nothing(&report)
	}
	return set, report, nil
}

// Current returns the set in service, nil when there is none, and the Report of
// the last pass. It never waits for a pass.
func (l *Loader) Current() (*policy.Set, Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.set, l.mu.report
}

// Reload has Watch read all files again, and tell the outcome whatever it is.
// It does not wait, and several calls may be answered by one pass.
func (l *Loader) Reload() {
	select {
	case l.reload <- struct{}{}:
	default: // one is due already
	}
}

// run is one pass. On error nothing has changed. Another pass is due when the
// files were restless: they changed all the while.
func (l *Loader) run(ctx context.Context, ev events, force bool) (restless bool, err error) {
	l.pass.Lock()
	defer l.pass.Unlock()
	begin := time.Now()
	if !l.started {
		l.restore()
		l.started = true
	}
	g, err := l.gather(ctx, ev, force)
	if err != nil {
		return false, err
	}
	c := l.last
	if c == nil || !l.isSame(g) {
		c = l.choose(g)
	}
	l.commit(g, c)
	r := l.report(g, c)
	r.At, r.Took = instant(), time.Since(begin)
	l.publish(r)
	return g.restless, nil
}

// moved tells whether files changed since the last pass, or might have without
// a trace.
func (l *Loader) moved() bool {
	l.pass.Lock()
	defer l.pass.Unlock()
	for _, k := range l.known {
		if k.fresh {
			return true
		}
	}
	return !l.look().same(l.view)
}

// isSame tells whether the files say what they said at the last pass, so that
// the last choice stands.
func (l *Loader) isSame(g *gathered) bool {
	if !l.view.same(g.view) || len(g.known) != len(l.known) {
		return false
	}
	for key, k := range g.known {
		was, ok := l.known[key]
		switch {
		case !ok, (k.seen == nil) != (was.seen == nil), (k.wrong == nil) != (was.wrong == nil):
			return false
		case k.seen != nil && k.seen.sum != was.seen.sum, k.wrong != nil && *k.wrong != *was.wrong:
			return false
		}
	}
	return true
}

// commit puts a choice into service.
func (l *Loader) commit(g *gathered, c *choice) {
	since, now := make(map[string]time.Time), instant()
	l.served = l.served[:0:0]
	for _, e := range c.entries {
		if e.pick != nil {
			l.served = append(l.served, served{e.name, e.key, e.root, e.pick})
		}
		if e.isSeen() {
			continue
		}
		if since[e.key] = now; !l.since[e.key].IsZero() {
			since[e.key] = l.since[e.key]
		}
	}
	l.since, l.view, l.known = since, g.view, g.known
	l.set, l.compiled, l.last = c.set, c.compiled, c
}

func (l *Loader) publish(r Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.CacheError = l.mu.report.CacheError
	l.mu.set, l.mu.report = l.set, r
}

// instant is now as reports and the cache have it: the same after a trip
// through JSON.
func instant() time.Time { return time.Now().UTC().Round(0) }

// nothing is the error of a load that gave nothing to serve.
func nothing(r *Report) error {
	err := &weir.Error{Code: weir.CodeInvalid, Message: "no policy can be served"}
	for _, p := range r.All() {
		if !p.Warning {
			p.Hint, err.Hint = "", p.Hint
			err.Message += ": " + p.String()
			break
		}
	}
	return err
}
