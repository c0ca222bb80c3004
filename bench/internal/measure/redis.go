package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/internal/latency"
	"github.com/weirlimit/weir/internal/redistest"
)

// RedisLimit is what every library enforces on Redis: more units than any of
// them can decide in a run, and no key expires during one.
var RedisLimit = peer.Limit{Count: 10_000_000, Period: 365 * 24 * time.Hour}

var (
	errDenied  = errors.New("denied within its limit")
	errAllowed = errors.New("allowed beyond its limit")
)

// Scenario is one load on Redis: callers that each wait for an answer and ask
// again, for keys drawn at random.
type Scenario struct {
	Name          string
	Keys, Callers int
	// Limit is RedisLimit where it is 0.
	Limit peer.Limit
	// Denied is a load of which all but the first is to be denied.
	Denied bool
}

// RedisPlan says what to measure on Redis.
type RedisPlan struct {
	Scenarios []Scenario
	WarmUp    time.Duration
	Measure   time.Duration
	Rounds    int
	Log       func(format string, args ...any) // progress

	wait func(time.Duration) // under load, in place of time.Sleep; for tests
}

// LoadTable is one scenario.
type LoadTable struct {
	Scenario Scenario
	Rows     []LoadRow
}

// LoadRow is one library; the slices have one element a round.
type LoadRow struct {
	Name   string
	Ours   bool
	Rate   []float64 // decisions a second
	P50    []float64 // ms
	P99    []float64 // ms
	Client []float64 // us of this process's CPU a decision
	Server []float64 // us of redis-server's CPU a decision
	Both   []float64 // us, their sum
	Failed []float64 // share of calls that failed, 0 to 1
	Calls  []float64 // scripts that Redis was sent a second
}

// Redis runs the plan against srv, which it empties before each measurement.
func Redis(ctx context.Context, plan RedisPlan, srv *redistest.Server, peers []peer.Redis) ([]LoadTable, error) {
	var tables []LoadTable
	for _, sc := range plan.Scenarios {
		t := LoadTable{Scenario: sc}
		for _, p := range peers {
			t.Rows = append(t.Rows, LoadRow{Name: p.Name, Ours: p.Ours})
		}
		for round := range plan.Rounds {
			plan.Log("redis, %s, round %d of %d", sc.Name, round+1, plan.Rounds)
			for i := range peers {
				at := (round + i) % len(peers)
				if err := plan.measure(ctx, sc, srv, peers[at], &t.Rows[at]); err != nil {
					return nil, fmt.Errorf("measure %s on redis: %w", peers[at].Name, err)
				}
			}
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// measure adds one round to row.
func (plan RedisPlan) measure(ctx context.Context, sc Scenario, srv *redistest.Server, p peer.Redis, row *LoadRow) (err error) {
	if _, err := srv.Do("FLUSHALL"); err != nil {
		return err
	}
	l, err := p.New(ctx, srv.Addr(), cmp.Or(sc.Limit, RedisLimit))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := l.Close(); err == nil {
			err = cerr
		}
	}()
	if err := pass(l, newKey(0)); err != nil { // connects
		return err
	}
	liveHeap() // what the last library left behind is not this one's to collect

	idle := during(srv, func() { time.Sleep(plan.WarmUp / 3) })
	run := startLoad(ctx, l, sc)
	run.filled.Wait()
	plan.sleep(plan.WarmUp)
	took := during(srv, func() {
		run.phase.Store(measuring)
		plan.sleep(plan.Measure)
		run.phase.Store(stopping)
	}).less(idle)
	if err := run.wait(); err != nil {
		return err
	}
	return row.add(run, took)
}

func (plan RedisPlan) sleep(d time.Duration) {
	if plan.wait != nil {
		plan.wait(d)
		return
	}
	time.Sleep(d)
}

// add puts one round's figures into row.
func (row *LoadRow) add(run *load, took span) error {
	n := float64(run.latency.Count())
	if n == 0 {
		return errors.New("no call was answered")
	}
	client, server := took.client.Seconds()*1e6/n, took.server.Seconds()*1e6/n
	row.Rate = append(row.Rate, n/took.wall.Seconds())
	row.P50 = append(row.P50, run.latency.Quantile(0.50).Seconds()*1e3)
	row.P99 = append(row.P99, run.latency.Quantile(0.99).Seconds()*1e3)
	row.Client = append(row.Client, client)
	row.Server = append(row.Server, server)
	row.Both = append(row.Both, client+server)
	row.Calls = append(row.Calls, float64(took.calls)/took.wall.Seconds())
	row.Failed = append(row.Failed, float64(run.failed)/(n+float64(run.failed)))
	return nil
}

// The phases of a load.
const (
	warming int32 = iota
	measuring
	stopping
)

// load is callers at work, and what they counted while measuring.
type load struct {
	denies bool // what is asked for is to be denied
	phase  atomic.Int32
	filled sync.WaitGroup // every key has been asked for once
	wg     sync.WaitGroup // every caller has ended

	mu      sync.Mutex // guards the rest until wait returns
	latency latency.Histogram
	failed  int
	wrong   int // allowed and not denied, or the other way round
}

// startLoad starts the callers.
func startLoad(ctx context.Context, l peer.Limiter, sc Scenario) *load {
	keys := make([]string, sc.Keys)
	for i := range keys {
		keys[i] = newKey(i)
	}
	run := &load{denies: sc.Denied}
	run.filled.Add(sc.Callers)
	for c := range sc.Callers {
		run.wg.Go(func() {
			for i := c; i < len(keys); i += sc.Callers {
				_, _ = l.Allow(ctx, keys[i]) // what fails here fails below too
			}
			run.filled.Done()
			run.call(ctx, l, keys, rand.NewPCG(uint64(c), 3))
		})
	}
	return run
}

// call is one caller. The end of a call is the start of the next: one reading
// of the clock for each.
func (run *load) call(ctx context.Context, l peer.Limiter, keys []string, src rand.Source) {
	var took latency.Histogram
	failed, wrong := 0, 0
	rng := rand.New(src)
	last := time.Now()
	for {
		ok, err := l.Allow(ctx, keys[rng.IntN(len(keys))])
		now := time.Now()
		phase := run.phase.Load()
		if phase == stopping {
			break
		}
		if phase == measuring {
			switch {
			case err != nil:
				failed++
			case ok == run.denies:
				wrong++
			default:
				took.Record(now.Sub(last))
			}
		}
		last = now
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.latency.Merge(&took)
	run.failed += failed
	run.wrong += wrong
}

// wait returns once every caller has ended.
func (run *load) wait() error {
	run.wg.Wait()
	switch {
	case run.wrong > 0 && run.denies:
		return fmt.Errorf("%d checks %w", run.wrong, errAllowed)
	case run.wrong > 0:
		return fmt.Errorf("%d checks %w", run.wrong, errDenied)
	}
	return nil
}

// RedisVersion asks srv for its version.
func RedisVersion(srv *redistest.Server) (string, error) {
	v, err := srv.Do("INFO", "server")
	if err != nil {
		return "", err
	}
	text, _ := v.(string)
	for line := range strings.Lines(text) {
		if version, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return strings.TrimSpace(version), nil
		}
	}
	return "unknown", nil
}
