package identityfile

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
	"github.com/weirlimit/weir/internal/forwardauth"
	"github.com/weirlimit/weir/internal/reload"
)

// Live is what the files say now. Make one with Open.
type Live struct {
	main  *reload.File[*Config]
	dir   string // of the file: paths in it are relative to this
	hooks Hooks
	now   atomic.Pointer[generation]
	kick  chan struct{}
}

// Hooks are told what happens. Each may be nil; they are called on several
// goroutines.
type Hooks struct {
	// Rejected is called for what was not believed of a request.
	Rejected func(identity.What, identity.Reason)
	// Keys is called when a provider's keys were fetched, with nil, and when that
	// fails in another way than before. none says that there are no keys, and no
	// token is believed until there are; else the last ones stay in force. No file
	// is at fault, so that Watch does not tell of it.
	Keys func(err error, none bool)
	// Warn is called for each warning of a version that comes into force.
	Warn func(Warning)
}

func (h *Hooks) fill() {
	if h.Rejected == nil {
		h.Rejected = func(identity.What, identity.Reason) {}
	}
	if h.Keys == nil {
		h.Keys = func(error, bool) {}
	}
	if h.Warn == nil {
		h.Warn = func(Warning) {}
	}
}

// generation is one version of the file, with all that it needs.
type generation struct {
	config   *Config
	settings forwardauth.Settings
	files    []file
	remote   *remote // nil for none
}

// file is another file that the main one names.
type file struct {
	path string
	load func() (changed bool, err error)
	// rebuild: what is made of it is part of a generation, and a change needs a
	// new one.
	rebuild bool
}

// remote is a provider's keys, and what they were asked for with: a new version
// of the file that asks the same keeps the keys.
type remote struct {
	keys    *token.Remote
	options token.RemoteOptions // its Roots are in roots
	roots   string
	failure string // of the first fetch, which was told; empty for none
}

// Open reads the file and those that it names, and fetches a provider's keys
// once. A provider that is away is told and not an error: Watch tries again.
func Open(ctx context.Context, path string, hooks Hooks) (*Live, error) {
	hooks.fill()
	l := &Live{dir: filepath.Dir(path), hooks: hooks, kick: make(chan struct{}, 1)}
	var err error
	l.main, err = reload.Open(func(c [][]byte) (*Config, error) { return Parse(path, c[0]) }, path)
	if err != nil {
		return nil, err
	}
	g, err := l.build(l.main.Get(), nil)
	if err != nil {
		return nil, err
	}
	if g.remote != nil {
		if _, err := g.remote.keys.Fetch(ctx); err != nil {
			g.remote.failure = err.Error()
			hooks.Keys(err, true)
		}
	}
	l.force(g)
	return l, nil
}

// force brings a version into force.
func (l *Live) force(g *generation) {
	l.now.Store(g)
	for _, w := range g.config.Warnings {
		l.hooks.Warn(w)
	}
}

// Settings returns those in force.
func (l *Live) Settings() *forwardauth.Settings { return &l.now.Load().settings }

// build makes a generation of a version of the file.
func (l *Live) build(c *Config, before *generation) (*generation, error) {
	g := &generation{config: c}
	o := c.Identity
	o.Rejected = l.hooks.Rejected
	if c.Tokens != nil {
		v, err := l.verifier(c.Tokens, g, before)
		if err != nil {
			return nil, err
		}
		o.Tokens = v
	}
	if c.KeyFile != "" {
		path := l.path(c.KeyFile)
		f, err := reload.Open(func(c [][]byte) (*identity.Keys, error) { return ParseKeys(path, c[0]) }, path)
		if err != nil {
			return nil, fmt.Errorf("api_keys: %w", err)
		}
		g.files = append(g.files, file{path: path, load: f.Load})
		o.Keys = keyFile{f}
	}
	resolver, err := identity.New(o)
	if err != nil {
		return nil, err
	}
	g.settings = forwardauth.Settings{Resolver: resolver, Headers: c.Headers}
	return g, nil
}

func (l *Live) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(l.dir, p)
}

// Reload makes Watch look at once.
func (l *Live) Reload() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Watch follows the files and the provider until ctx ends. It calls told with
// nil when a file's new contents are in force, and with an error when a file is
// wrong that was not so before. What becomes of a provider is for Hooks.
func (l *Live) Watch(ctx context.Context, told func(error)) {
	f := follower{told: l.hooks.Keys}
	defer f.end()
	tick := time.NewTicker(reload.Every)
	defer tick.Stop()
	var next attempt
	for {
		f.follow(ctx, l.now.Load().remote)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.kick:
			if f.of != nil {
				f.of.keys.Reload()
			}
			next.after = time.Time{}
		}
		l.look(told, &next)
		l.try(ctx, told, &next)
	}
}

// follower fetches the keys of one provider at a time.
type follower struct {
	told func(err error, none bool)
	of   *remote
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func (f *follower) follow(ctx context.Context, r *remote) {
	if r == f.of {
		return
	}
	f.end()
	if f.of = r; r == nil {
		return
	}
	ctx, f.stop = context.WithCancel(ctx)
	f.wg.Go(func() {
		r.keys.Watch(ctx, func(err error) {
			if err != nil && err.Error() == r.failure {
				return // what Open has told
			}
			r.failure = ""
			f.told(err, r.keys.Keys() == nil)
		})
	})
}

func (f *follower) end() {
	if f.stop != nil {
		f.stop()
	}
	f.wg.Wait()
}

// attempt is a new generation on its way: it is tried again until it comes into
// force, since what keeps it out may be another file or a provider.
type attempt struct {
	of      *Config // the version that was last seen to need one
	wanted  bool
	after   time.Time // not before
	failure string    // that was told
}

// look looks at all files once, also those of a version that is to be replaced:
// a key that is revoked is revoked whatever keeps the next version out of force.
func (l *Live) look(told func(error), next *attempt) {
	if _, err := l.main.Load(); err != nil {
		told(err)
	}
	g := l.now.Load()
	for _, f := range g.files {
		changed, err := f.load()
		switch {
		case err != nil:
			told(inFile(f.path, err))
		case changed && f.rebuild:
			next.wanted, next.after = true, time.Time{}
		case changed:
			told(nil)
		}
	}
	if c := l.main.Get(); c != g.config && c != next.of {
		next.of, next.wanted, next.after = c, true, time.Time{}
	}
}

// try brings a new generation into force, if one is wanted.
func (l *Live) try(ctx context.Context, told func(error), next *attempt) {
	if !next.wanted || time.Now().Before(next.after) {
		return
	}
	before := l.now.Load()
	g, err := l.build(l.main.Get(), before)
	if err == nil && g.remote != nil && g.remote != before.remote {
		// Another provider is asked first: one that is not there leaves the
		// old one in force, as a bad file does. It is not asked every second.
		if _, err = g.remote.keys.Fetch(ctx); err != nil {
			next.after = time.Now().Add(g.remote.keys.Retry())
		}
	}
	if err != nil {
		if err.Error() != next.failure {
			told(err)
		}
		next.failure = err.Error()
		return
	}
	*next = attempt{}
	l.force(g)
	told(nil)
}

// inFile says which file an error is about, unless it does so itself.
func inFile(path string, err error) error {
	if strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
