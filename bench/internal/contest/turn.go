package contest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/latency"
	"github.com/weirlimit/weir/internal/redistest"
)

// arena is where turns take place.
type arena struct {
	programs Programs
	redis    *redistest.Server
	dir      string
	certs    *certificates
}

// load is what is sent to a server that runs.
type load struct {
	requests bench.Requests
	rate     int // of an open loop; 0: callers who wait
	warmUp   time.Duration
	measure  time.Duration
	most     int64 // requests, instead of measure
	scrape   bool  // metrics are read meanwhile
}

// turn is one system at one scenario.
type turn struct {
	name   string // directory of the configuration
	config string
	system System
	fill   *bench.Listed // sent once before; nil for none
	load
}

// take empties Redis, starts the system, measures it and ends it.
func (a *arena) take(ctx context.Context, t turn) (s Sample, err error) {
	if err := a.flush(); err != nil {
		return s, err
	}
	srv, err := a.start(ctx, t.name, t.system, a.redis, t.config)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	if t.fill != nil {
		if err := fill(ctx, srv, t.fill, int64(t.fill.Len())); err != nil {
			return s, err
		}
	}
	if s, err = weigh(ctx, srv, a.redis, t.load); err != nil {
		return s, fmt.Errorf("%s: %w", t.system.Name, err)
	}
	if srv.admin != nil {
		counts, err := srv.admin.sources(ctx)
		if err != nil {
			return s, err
		}
		s.Sources = sharesOf(nil, counts)
	}
	return s, nil
}

// start writes the files of a configuration and starts a system with them.
func (a *arena) start(ctx context.Context, name string, sys System, redis *redistest.Server, config ...string) (*server, error) {
	root := filepath.Join(a.dir, name)
	dir := filepath.Join(root, "rl", "config")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	for i, text := range config {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("bench%d.yaml", i)), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	l := launch{programs: a.programs, system: sys, root: root, certs: a.certs}
	if redis != nil {
		l.redis = redis.Addr()
	}
	return start(ctx, l)
}

func (a *arena) flush() error {
	if _, err := a.redis.Do("FLUSHALL", "SYNC"); err != nil {
		return fmt.Errorf("empty Redis: %w", err)
	}
	return nil
}

// patience is how long an answer may take, and how long the last ones are
// waited for.
const patience = 10 * time.Second

// plan is what every load has in common.
func plan(srv *server, requests bench.Requests) bench.Plan {
	return bench.Plan{
		API: bench.RLS, Addr: srv.addr, TLS: srv.tls, Requests: requests,
		Conns: connections, Callers: callers, Timeout: patience,
	}
}

// fill asks for all of some requests once.
func fill(ctx context.Context, srv *server, requests bench.Requests, calls int64) error {
	p := plan(srv, requests)
	p.Most, p.For = calls, 10*time.Minute
	res, err := bench.Run(ctx, p)
	if err == nil && (res.Failures() > 0 || res.Decided() != uint64(calls)) {
		err = fmt.Errorf("%d of %d requests were decided: %s", res.Decided(), calls, reasons(res))
	}
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	return nil
}

// reasons says why requests failed.
func reasons(r *bench.Result) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Failed)) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", r.Failed[name], name, r.Details[name])))
	}
	return strings.Join(out, ", ")
}

// weigh loads a server that runs. Its Redis may be nil.
func weigh(ctx context.Context, srv *server, redis *redistest.Server, l load) (s Sample, err error) {
	p := plan(srv, l.requests)
	p.Warmup, p.For, p.Most = l.warmUp, l.measure, l.most
	if l.most > 0 {
		p.For = 10 * time.Minute
	}
	p.Processes = []bench.Process{
		{Name: "server", PID: srv.proc.Pid(), Clock: cpuOf},
		{Name: "generator", PID: os.Getpid(), Clock: cpuOf},
	}
	if redis != nil {
		p.Processes = append(p.Processes, bench.Process{Name: "redis", PID: redis.Pid(), Clock: cpuOf})
	}
	heard := func() *latency.Histogram { return &latency.Histogram{} }
	if l.rate > 0 {
		p.Rate, p.Callers = l.rate, 0 // as many as it has by default
		// One more for the thread that keeps the time, and mostly sleeps.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
		heard = listen()
	}
	if l.scrape && srv.admin != nil {
		stop := srv.admin.scrape(ctx)
		defer func() { err = errors.Join(err, stop()) }()
	}
	res, err := bench.Run(ctx, p)
	late := heard()
	if err != nil {
		return Sample{}, err
	}
	return sample(res, late), nil
}

// deadline is one that callers are told to fail open at.
const deadline = 3 * time.Millisecond

func sample(r *bench.Result, late *latency.Histogram) Sample {
	ms := func(h *latency.Histogram, q float64) float64 { return float64(h.Quantile(q).Nanoseconds()) / 1e6 }
	s := Sample{
		Rate: r.Rate(), P50: ms(&r.Latency, 0.5), P99: ms(&r.Latency, 0.99), P999: ms(&r.Latency, 0.999),
		OK: r.Allowed, Denied: r.Denied, Failed: r.Failures(), Why: reasons(r),
		TimerP50: ms(late, 0.5), TimerP99: ms(late, 0.99), TimerP999: ms(late, 0.999),
	}
	if n := r.Latency.Count(); n > 0 {
		s.Late = float64(r.Latency.Above(deadline)) / float64(n)
	}
	for _, c := range r.CPU {
		us := float64(c.PerRequest.Nanoseconds()) / 1e3
		switch c.Name {
		case "server":
			s.Server = us
		case "redis":
			s.RedisCPU = us
		default:
			s.Generator = us
		}
	}
	return s
}
