package embedded

import (
	"context"
	"log/slog"
	"sync"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// Limits decides requests by policies. Make one with Open or Parse.
type Limits struct {
	engine *engine.Engine
	store  weir.Store // to be closed; nil when it is the caller's
	log    *slog.Logger
	told   func(Reload)

	loader *policyfile.Loader // nil when no policies are followed
	open   context.Context    // until Close
	stop   context.CancelFunc // ends it
	work   sync.WaitGroup     // what follows files
	close  func() error

	mu struct {
		sync.Mutex
		last string // what was said last, so that it is said once
	}
}

var (
	_ weir.AsyncChecker = (*Limits)(nil)
	_ weir.Releaser     = (*Limits)(nil)
)

// Open loads the policies of a file, or of the files of a directory, and
// follows them until Close. What is wrong with any of them is the error.
func Open(path string, opts ...Option) (*Limits, error) {
	c := newConfig(opts)
	loader, err := policyfile.New(policyfile.Options{
		Paths: append([]string{path}, c.paths...), Compat: c.compat, MergeDomains: c.compat, Private: c.private,
	})
	if err != nil {
		return nil, err
	}
	set, report, err := loader.Load(context.Background())
	if problems := report.All(); policy.HasErrors(problems) {
		return nil, problem(problems)
	}
	if err != nil {
		return nil, err
	}
	l, err := newLimits(&c, set)
	if err != nil {
		return nil, err
	}
	l.loader = loader
	l.tell(report)
	l.follow(func(ctx context.Context) {
		// The only one who watches; what is wrong is told by apply.
		_ = loader.Watch(ctx, func(*policy.Set, policyfile.Report) { _ = l.apply() })
	})
	return l, nil
}

// Parse makes limits of policies that are part of the program, as YAML or JSON
// of either format. They do not change.
func Parse(text string, opts ...Option) (*Limits, error) {
	c := newConfig(opts)
	f, problems := policyfile.Parse("policies", []byte(text), c.compat)
	if policy.HasErrors(problems) {
		return nil, problem(problems)
	}
	set, problems := policy.Compile([]*policy.File{f}, policy.Options{EnvoyCompat: c.compat, Private: c.private})
	if set == nil || policy.HasErrors(problems) {
		return nil, problem(problems)
	}
	return newLimits(&c, set)
}

func newLimits(c *config, set *policy.Set) (*Limits, error) {
	l := &Limits{log: c.log, told: c.told}
	l.open, l.stop = context.WithCancel(context.Background())
	names, err := c.salts()
	if err != nil {
		return nil, err
	}
	store := c.store
	if store == nil {
		own := memstore.New(memstore.WithHooks(c.hooks))
		store, l.store = own, own
	}
	o := engine.Options{Store: store, Deadline: c.deadline, Hooks: c.hooks, Pseudonyms: names.ring, Instances: c.instances}
	if _, near := store.(*memstore.Store); !near { // which always answers
		standBy(c, &o)
		tier, err := c.local(store, o.Backstop.Learn)
		if err != nil {
			return nil, err
		}
		if tier != nil { // a nil one would be an interface that is not nil
			o.Local = tier
		}
	}
	l.engine, err = engine.New(o)
	if err != nil {
		return nil, err
	}
	l.engine.Swap(set)
	l.close = sync.OnceValue(l.end)
	if names.file != nil {
		l.follow(func(ctx context.Context) { l.followSalts(ctx, names.file) })
	}
	return l, nil
}

// follow has files watched until Close.
func (l *Limits) follow(watch func(context.Context)) {
	l.work.Go(func() { watch(l.open) })
}

// Check implements weir.Checker.
func (l *Limits) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	return l.engine.Check(ctx, r, d)
}

// Submit implements weir.AsyncChecker.
func (l *Limits) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	l.engine.Submit(r, d, done)
}

// Release implements weir.Releaser.
func (l *Limits) Release(ctx context.Context, r *weir.Request) (int64, string, error) {
	return l.engine.Release(ctx, r)
}

// Version names the policies in force: the same contents have the same version.
func (l *Limits) Version() string { return l.engine.Set().Version() }

// Close stops following the files and forgets the counters, unless they are in
// a store of the caller's, which stays open. Checks are then answered by the
// policies' on_failure. It may be called more than once.
func (l *Limits) Close() error { return l.close() }

func (l *Limits) end() error {
	l.stop()
	l.work.Wait()
	if l.store != nil {
		return l.store.Close()
	}
	return nil
}
