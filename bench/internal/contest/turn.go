package contest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
	"github.com/weirlimit/weir/bench/internal/stat"
	"github.com/weirlimit/weir/internal/redistest"
)

// arena is where turns take place.
type arena struct {
	programs Programs
	redis    *redistest.Server
	redisPid int
	dir      string
}

// turn is one system at one scenario.
type turn struct {
	name    string // directory of the configuration
	config  string
	system  System
	script  rlsload.Script
	rate    int    // of an open loop; 0: callers who wait
	fill    uint64 // tenants that ask once before
	warmUp  time.Duration
	measure time.Duration
}

// take empties Redis, starts the system, measures it and ends it.
func (a *arena) take(ctx context.Context, t turn) (s Sample, err error) {
	if err := a.flush(); err != nil {
		return s, err
	}
	srv, err := a.start(ctx, t.name, t.system, t.config)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	if t.fill > 0 {
		keys := rlsload.Keys{Domain: domain, Key: "tenant", Count: t.fill, Batch: fillBatch}
		if err := a.fill(ctx, srv, keys); err != nil {
			return s, err
		}
	}
	if s, err = a.measure(ctx, srv, t); err != nil {
		return s, fmt.Errorf("%s: %w", t.system.Name, err)
	}
	if srv.admin != "" {
		s.Sources, err = sources(ctx, srv.admin)
	}
	return s, err
}

// start writes the files of a configuration and starts a system with them.
func (a *arena) start(ctx context.Context, name string, sys System, config ...string) (*server, error) {
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
	return start(ctx, launch{a.programs, sys, root, a.redis.Addr()})
}

func (a *arena) flush() error {
	if _, err := a.redis.Do("FLUSHALL", "SYNC"); err != nil {
		return fmt.Errorf("empty Redis: %w", err)
	}
	return nil
}

// measure loads a server that runs.
func (a *arena) measure(ctx context.Context, srv *server, t turn) (Sample, error) {
	m := meter{pids: [3]int{srv.proc.Pid(), a.redisPid, os.Getpid()}}
	var tally *rlsload.Tally
	var err error
	if t.rate > 0 {
		tally, err = rlsload.Open{
			Addr: srv.addr, Script: t.script, Conns: connections, Rate: t.rate,
			WarmUp: t.warmUp, Measure: t.measure, Edge: m.edge,
		}.Run(ctx)
	} else {
		tally, err = rlsload.Closed{
			Addr: srv.addr, Script: t.script, Conns: connections, Callers: callers,
			WarmUp: t.warmUp, Measure: t.measure, Edge: m.edge,
		}.Run(ctx)
	}
	if err = errors.Join(err, m.err); err != nil {
		return Sample{}, err
	}
	return m.sample(tally), nil
}

// meter reads the processor time of server, Redis and generator at the edges of
// what is counted.
type meter struct {
	pids [3]int
	at   [2][3]time.Duration
	n    int
	err  error
}

func (m *meter) edge() {
	for i, pid := range m.pids {
		d, err := cpuOf(pid)
		m.err = errors.Join(m.err, err)
		m.at[min(m.n, 1)][i] = d
	}
	m.n++
}

func (m *meter) sample(t *rlsload.Tally) Sample {
	each := func(i int) float64 {
		return stat.Ratio(float64((m.at[1][i]-m.at[0][i]).Nanoseconds())/1e3, float64(t.OK+t.Denied))
	}
	ms := func(q float64) float64 { return float64(t.Latency.Quantile(q).Nanoseconds()) / 1e6 }
	return Sample{
		Rate: t.Rate(), P50: ms(0.5), P99: ms(0.99), P999: ms(0.999),
		Server: each(0), RedisCPU: each(1), Generator: each(2),
		OK: t.OK, Denied: t.Denied, Failed: t.Failed, Status: t.Status, Unsent: t.Unsent,
	}
}
