package embedded

import (
	"log/slog"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/local"
)

type config struct {
	paths    []string
	store    weir.Store
	deadline time.Duration
	hooks    weir.Hooks
	log      *slog.Logger
	told     func(Reload)
	compat   bool
	saltFile string
	private  []string
	denials  int
	leases   *Leases

	instances func() int
}

func newConfig(opts []Option) config {
	c := config{denials: local.DefaultDenials}
	for _, o := range opts {
		o(&c)
	}
	if c.log == nil {
		c.log = slog.Default()
	}
	return c
}

// Option changes what Open and Parse make.
type Option func(*config)

// WithPaths adds files and directories to the one that Open is given. Where two
// contradict each other the earlier wins.
func WithPaths(paths ...string) Option {
	return func(c *config) { c.paths = append(c.paths, paths...) }
}

// WithStore keeps the counters in s, such as one on Redis that several processes
// share, in place of this process's memory. Close leaves it open.
func WithStore(s weir.Store) Option { return func(c *config) { c.store = s } }

// WithDenyCache sets how many used-up counters are denied without asking the
// store that WithStore gives, each for a second at most: 65536 unless set, none
// with 0. Counters in this process's memory need none. See docs/local-tier.md.
func WithDenyCache(counters int) Option { return func(c *config) { c.denials = counters } }

// WithInstances says how many processes share the store of WithStore, this one
// included: while the store is away each lets through its part of every limit,
// and what may be taken ahead is shared among them. It is asked often, must not
// block, and is 1 unless set. The last number known is the best
// answer while nobody can be asked.
func WithInstances(n func() int) Option { return func(c *config) { c.instances = n } }

// WithDeadline bounds how long a check waits for the store, 10 ms unless set.
func WithDeadline(d time.Duration) Option { return func(c *config) { c.deadline = d } }

// WithHooks sets what is told of decisions, for metrics.
func WithHooks(h weir.Hooks) Option { return func(c *config) { c.hooks = h } }

// WithLogger sets where reloads are logged, slog.Default unless set. Problems
// are errors, doubts are warnings, new policies are information.
func WithLogger(log *slog.Logger) Option { return func(c *config) { c.log = log } }

// WithOnReload is told of every load that has something new to say, the first
// too. The next one waits for it; it must not call Reload.
func WithOnReload(told func(Reload)) Option { return func(c *config) { c.told = told } }

// WithCompat counts and loads as envoyproxy/ratelimit does; see
// docs/migrate-from-envoy-ratelimit.md.
func WithCompat() Option { return func(c *config) { c.compat = true } }

// WithSaltFile names private values, such as addresses and users, by the salts
// of a file, which is followed: see docs/privacy.md. Give it to all programs and
// servers that share a store, before the store's keys hold anything personal.
// Without it counters in memory have salts of their own, and those of a store
// one that everybody knows.
func WithSaltFile(path string) Option { return func(c *config) { c.saltFile = path } }

// WithPrivate says which dimensions are private, in place of ip, user, api_key,
// remote_address and masked_remote_address. Without names, none is.
func WithPrivate(names ...string) Option {
	return func(c *config) { c.private = append([]string{}, names...) }
}
