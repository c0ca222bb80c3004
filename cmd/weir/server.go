package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/fastlane"
	"github.com/weirlimit/weir/internal/forwardauth"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/policy"
)

// server is a weir serve: the engine, what feeds it, and what asks it.
type server struct {
	flags   *serveFlags
	sys     system
	log     *slog.Logger
	store   weir.Store
	engine  *engine.Engine
	ring    func() *pseudonym.Ring // what private values are named by
	metrics *obs.Metrics
	tier    *local.Tier    // nil with counters in memory
	cork    *fastlane.Cork // nil when grpc-go serves all
	health  *admin.Health
	loader  *policyfile.Loader // nil when the sample is served

	doors    []*door
	tls      map[string]doorTLS // by the name of the door
	where    string
	followed []followed
	watch    storeWatch
	guard    storeGuard
	policies policyWatch
	standby  standby

	instances      func() int // how many share the counters; see joinInstances
	leaveInstances func()

	identity func() *forwardauth.Settings // in force; see openIdentity
}

// followed is something read from files that is kept current while the server
// runs, and looked at on SIGHUP.
type followed struct {
	name string // for the log
	file interface {
		Watch(ctx context.Context, told func(error))
		Reload()
	}
}

func newServer(ctx context.Context, sys system, f *serveFlags, log *slog.Logger) (*server, error) {
	s := &server{flags: f, sys: sys, log: log, metrics: obs.New(obs.Options{Version: buildVersion()}), health: admin.NewHealth(partPolicies)}
	if sys.procs != nil {
		s.metrics.Processors(sys.procs.Now)
	}
	if err := f.degrade.check(); err != nil {
		return nil, err
	}
	if err := f.memory.validate(); err != nil {
		return nil, err
	}
	if err := s.openTLS(); err != nil {
		return nil, err
	}
	if err := s.loadSalts(); err != nil {
		return nil, err
	}
	hooks := f.engine.corked(s.watch.hooks(s.metrics.Hooks()), &s.cork)
	f.redis.deadline, f.redis.memoryKeys = f.deadline, f.memory.keys
	store, where, err := f.redis.openFor(ctx, peerPassword(sys.lookupEnv), hooks)
	if err != nil {
		return nil, err
	}
	s.store, s.where, s.guard.options = store, where, f.redis.opened
	s.joinInstances()
	if f.redis.files != nil {
		s.followed = append(s.followed, followed{"redis certificates", f.redis.files})
	}
	options := engine.Options{Store: store, Deadline: f.deadline, Hooks: hooks, Pseudonyms: s.ring, Instances: s.instances}
	s.standby.instances = s.instances
	s.standby.open(f, &options, s.metrics)
	if err := s.addLocal(&options); err != nil {
		_ = store.Close()
		return nil, err
	}
	s.engine, err = engine.New(options)
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx); err != nil {
		_ = store.Close()
		return nil, err
	}
	if err := s.openIdentity(ctx); err != nil {
		_ = store.Close()
		return nil, err
	}
	if err := s.open(); err != nil {
		_ = store.Close()
		return nil, err
	}
	return s, nil
}

// load loads the policies, or the sample. Files that are bad leave the server
// without policies, not ended: they may be mended while it waits.
func (s *server) load(ctx context.Context) error {
	leased, err := s.flags.lease.auto()
	if err != nil {
		return err
	}
	if len(s.flags.config) == 0 {
		return s.loadSample()
	}
	o := s.flags.loading.options(s.flags.config)
	o.CacheDir, o.Private, o.Lease, o.Around = s.flags.cacheDir, s.flags.salt.private, leased, s.sys.procs.All
	l, err := policyfile.New(o)
	if err != nil {
		return err
	}
	s.loader = l
	set, report, err := l.Load(ctx)
	if err != nil && set == nil && len(report.Files) == 0 {
		return err // no such file: not something to wait for
	}
	s.apply(set, report)
	return nil
}

func (s *server) loadSample() error {
	f, problems := policyfile.Parse(sampleName, samplePolicy, false)
	if policy.HasErrors(problems) {
		return errors.New("the sample policy is broken: " + problems[0].String())
	}
	set, problems := policy.Compile([]*policy.File{f}, policy.Options{Private: s.flags.salt.private})
	if set == nil {
		return fmt.Errorf("the sample policy does not compile: %v", problems)
	}
	s.swap(set)
	return nil
}

// apply takes over what a pass over the files found.
func (s *server) apply(set *policy.Set, r policyfile.Report) {
	for _, p := range r.All() {
		level := slog.LevelError
		if p.Warning {
			level = slog.LevelWarn
		}
		s.log.Log(context.Background(), level, "policy", "problem", p.String())
	}
	stale, served := filesOf(&r)
	s.metrics.Reloaded(obs.Reload{OK: r.OK(), Problems: problemsOf(&r), StaleFiles: stale, Took: r.Took})
	s.tellOfCache(&r)
	s.tellOfFiles(&r, stale)
	now := s.engine.Set()
	switch {
	case stale > 0:
		s.health.Degrade(partPolicies, fmt.Sprintf("%d of %d files are not served as they are written", stale, len(r.Files)))
	case served == 0 && now != nil:
		s.health.Degrade(partPolicies, "no file is left: every request is let through")
	default:
		s.health.Restore(partPolicies)
	}
	if set == nil || served == 0 && now == nil { // nobody wrote that there are to be no limits
		s.log.Error("no policies to serve yet; write or mend the files, they are watched")
		return
	}
	if now != nil && now.Version() == set.Version() {
		return
	}
	s.swap(set)
	if served == 0 { // who deletes the last one means it, perhaps
		s.log.Warn("no policy file is left: every request is let through", "version", set.Version())
		return
	}
	s.log.Info("policies loaded", "version", set.Version(), "rules", len(set.Rules()), "files", len(r.Files))
}

func (s *server) swap(set *policy.Set) {
	rules := make([]obs.RuleInfo, len(set.Rules()))
	for i, r := range set.Rules() {
		rules[i] = obs.RuleInfo{Domain: r.Domain, ID: r.ID}
	}
	s.metrics.SetLoaded(s.engine.NextSerial(), set.Version(), rules)
	s.engine.Swap(set)
	s.checkRetention(set)
	s.health.Started(partPolicies)
}

// partPolicies is what health calls the policies.
const partPolicies = "policies"

// run serves until ctx ends, then drains.
func (s *server) run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	// Before anybody can see that the server is ready, and signal it: without
	// this, the signal ends the process.
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	var wg sync.WaitGroup
	failed := make(chan error, len(s.doors))
	for _, d := range s.doors {
		wg.Go(func() {
			if err := d.serve(); err != nil {
				failed <- fmt.Errorf("serve %s: %w", d.name, err)
			}
		})
	}
	for _, f := range s.followed {
		s.metrics.Followed(f.name, true)
		wg.Go(func() { f.file.Watch(work, func(err error) { s.reloaded(f.name, err) }) })
	}
	wg.Go(func() { s.reloadOnHangup(work, hup) })
	wg.Go(func() { s.watchSwitch(work) })
	if s.flags.redis.addrs != "" { // memory always answers
		wg.Go(func() { s.watchStore(work) })
	}
	if s.sys.procs != nil {
		wg.Go(func() { s.governProcessors(work) })
	}
	s.hello()
	if s.loader != nil { // after hello, so that ready is said once
		wg.Go(func() { _ = s.loader.Watch(work, s.applyAndTell) })
	}
	var err error
	select {
	case <-ctx.Done():
		s.log.Info("stopping")
	case err = <-failed:
	}
	s.drain()
	stop()
	wg.Wait()
	s.leaveInstances()
	if closeErr := s.store.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (s *server) reloadOnHangup(ctx context.Context, hup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if s.loader != nil {
				s.loader.Reload()
			}
			for _, f := range s.followed {
				f.file.Reload()
			}
		}
	}
}

// reloaded says what became of a file that was read again.
func (s *server) reloaded(name string, err error) {
	s.metrics.Followed(name, err == nil)
	if err != nil {
		s.health.Degrade(name, "what is written is wrong; what was read before is in force")
		s.log.Error("file is wrong; what was read before stays in force", "what", name, "error", err)
		return
	}
	s.health.Restore(name)
	s.log.Info("read again", "what", name)
}

// drain lets readiness fall first, so that nobody new comes, then waits for
// what is under way.
func (s *server) drain() {
	s.health.Drain()
	deadline := time.Now().Add(s.flags.drain)
	var wg sync.WaitGroup
	for _, d := range s.doors {
		wg.Go(func() { d.stop(deadline) })
	}
	wg.Wait()
}

// hello says where everything is and, with the sample, what to try.
func (s *server) hello() {
	for _, d := range s.doors {
		attrs := []any{"for", d.name, "address", d.addr(), "tls", s.tls[d.name].config != nil}
		if d.name == doorGRPC {
			attrs = append(attrs, "engine", s.flags.engine.grpc)
		}
		s.log.Info("listening", attrs...)
		s.warnOfExposure(d)
	}
	s.tellReady()
	s.flags.redis.warnIdle(s.log)
	if len(s.flags.peer.used) > 0 {
		s.log.Info("settings taken from envoyproxy/ratelimit's variables", "names", s.flags.peer.used)
	}
	for _, name := range s.flags.peer.ignored {
		s.log.Warn("variable has no effect here", "name", name, "because", peerIgnored[name])
	}
	if s.loader != nil {
		return
	}
	_, _ = fmt.Fprintf(s.sys.out, `Serving a sample policy: 5 requests a minute per tenant. Try it six times:

  curl -i %s/v1/check -d '{"dimensions": {"tenant": "acme"}}'

`, s.curlTarget())
}
