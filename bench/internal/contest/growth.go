package contest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/weirlimit/weir/bench/internal/redisproc"
	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

// growthPlan is how far to go.
type growthPlan struct {
	redisKeys, memoryKeys, rules []uint64
	peerKeys                     []uint64
	rounds                       int
	// Requests of a sample, the same of every size, and a quarter as many before
	// that are not counted.
	inRedis, inMemory, ofPeer int64
}

func (p Plan) growthPlan() growthPlan {
	g := growthPlan{
		redisKeys:  []uint64{1e3, 1e4, 1e5, 1e6, 1e7},
		memoryKeys: []uint64{1e3, 1e4, 1e5, 1e6, 1e7},
		rules:      []uint64{10, 100, 1000, 10_000, 100_000},
		peerKeys:   []uint64{1e4, 1e6},
		// Many and short: what the machine does besides is then the same of all
		// sizes of a round.
		rounds: 3 * p.Rounds, inRedis: 100_000, inMemory: 500_000, ofPeer: 25_000,
	}
	if p.Quick {
		g.redisKeys, g.memoryKeys, g.rules, g.peerKeys = g.redisKeys[:3], g.memoryKeys[:4], g.rules[:4], []uint64{1e4, 1e5}
		g.inRedis, g.inMemory, g.ofPeer = 30_000, 150_000, 8000
	}
	return g
}

// memoryCap is more than the keys of any size: none is to go.
const memoryCap = 12_000_000

// fillEach is how many keys a request asks for that fills: few more are allowed.
const fillEach = 16

// remembered is more keys than a server remembers beside Redis: it has been
// asked for as many as that, and the tables of its own are as full as they get.
const remembered = 300_000

func (p Plan) growth(ctx context.Context, a *arena, eng []string, res *Result) error {
	g := p.growthPlan()
	eng = eng[len(eng)-1:] // the one that is judged
	inRedis, inMemory := weirs(eng, "", false)[0], weirs(eng, ", memory", true)[0]
	capped := inMemory
	capped.Args = append(append([]string(nil), inMemory.Args...), "--memory-keys", strconv.Itoa(memoryCap))
	for _, c := range []struct {
		Curve
		sizes   []uint64
		system  System
		station func(context.Context, testing.TB, *arena, System, uint64) (*station, error)
	}{
		{Curve{
			Name: "keys in Redis", Unit: "keys", Requests: g.inRedis,
			Note: "Every size has a redis-server and a server of its own. The server is asked twice for 300k keys; more are copies, under " +
				"their names, of what it keeps for one, and the run ends with an error when a counter is new in a sample.",
		}, g.redisKeys, inRedis, keysInRedis},
		{Curve{
			Name: "keys in Redis, the peer", Unit: "keys", Requests: g.ofPeer,
			Note: "The same, for comparison; not judged.", Peer: true,
		}, g.peerKeys, peerTuned(), keysInRedis},
		{Curve{
			Name: "keys in memory", Unit: "keys", Requests: g.inMemory,
			Note: "A server of its own for every size, with room for all (`--memory-keys`).",
		}, g.memoryKeys, capped, keysInMemory},
		{Curve{
			Name: "rules, counters in Redis", Unit: "rules", Requests: g.inRedis,
			Note: "10k counters whatever the number of rules; a domain has 10k rules at most.",
		}, g.rules, inRedis, rulesInRedis},
		{Curve{
			Name: "rules, counters in memory", Unit: "rules", Requests: g.inMemory,
			Note: "The same without Redis.",
		}, g.rules, inMemory, rulesInMemory},
	} {
		if !p.wants(partGrowth + c.Name) {
			continue
		}
		c.System = c.system.Name
		err := redisproc.With(func(t testing.TB) error {
			stations := make([]*station, 0, len(c.sizes))
			for _, n := range c.sizes {
				p.Log("%s: start and fill %s", c.Name, countText(n))
				s, err := c.station(ctx, t, a, c.system, n)
				if err != nil {
					return fmt.Errorf("%s %s: %w", countText(n), c.Unit, err)
				}
				stations = append(stations, s)
			}
			var err error
			c.Points, err = p.grow(ctx, g, c.Curve, stations)
			return err
		})
		if err != nil {
			return fmt.Errorf("growth, %s: %w", c.Name, err)
		}
		res.Growth = append(res.Growth, c.Curve)
	}
	return nil
}

// station is one size, running and filled.
type station struct {
	size     uint64
	system   System
	server   *server
	redis    *redistest.Server // nil for counters in memory
	requests func(round int) bench.Requests
}

// grow takes samples of all sizes round by round: a busy minute of the
// machine falls on all of them.
func (p Plan) grow(ctx context.Context, g growthPlan, c Curve, stations []*station) ([]Point, error) {
	points := make([]Point, len(stations))
	for round := range g.rounds {
		for i, s := range stations {
			points[i].X = float64(s.size)
			sc := Scenario{Name: c.Name, Redis: s.redis != nil}
			sample, err := p.insist(ctx, sc, s.system, func() (Sample, error) { return s.sample(ctx, s.requests(round), c.Requests) })
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", countText(s.size), c.Unit, err)
			}
			p.Log("round %d/%d, %s: %s: %.2f+%.2f us", round+1, g.rounds, c.Name, countText(s.size), sample.Server, sample.RedisCPU)
			points[i].Samples = append(points[i].Samples, sample)
		}
	}
	return points, nil
}

// sample sends requests that are not counted, and then those that are. No
// counter may be new among them: a first touch is not what is measured.
func (s *station) sample(ctx context.Context, requests bench.Requests, n int64) (Sample, error) {
	before, err := s.keys()
	if err != nil {
		return Sample{}, err
	}
	if err := fill(ctx, s.server, requests, n/4); err != nil {
		return Sample{}, err
	}
	from, err := s.sources(ctx)
	if err != nil {
		return Sample{}, err
	}
	out, err := weigh(ctx, s.server, s.redis, load{requests: requests, most: n})
	if err != nil {
		return out, err
	}
	to, err := s.sources(ctx)
	if err != nil {
		return out, err
	}
	out.Sources = sharesOf(from, to)
	after, err := s.keys()
	if few := int64(10); err == nil && after > before+few { // a heartbeat may come meanwhile
		err = fmt.Errorf("%d counters came while %d were measured: a day ended, or they expire", after-before, before)
	}
	return out, err
}

// sources counts decisions by where they came from; the peer does not tell, and
// in memory there is no other place.
func (s *station) sources(ctx context.Context) (map[string]float64, error) {
	if s.server.admin == nil || s.redis == nil {
		return nil, nil
	}
	return s.server.admin.sources(ctx)
}

// keys is how many Redis has.
func (s *station) keys() (int64, error) {
	if s.redis == nil {
		return 0, nil
	}
	v, err := s.redis.Do("DBSIZE")
	n, _ := v.(int64)
	return n, err
}

// drawn are requests for so many keys, uniformly, others in each round.
func drawn(n uint64) func(round int) bench.Requests {
	return func(round int) bench.Requests {
		return &bench.Synthetic{Domain: domain, Names: []string{"tenant"}, Cost: 1, Keys: loadgen.Keys{Seed: uint64(round + 1), Count: n}}
	}
}

func keysInRedis(ctx context.Context, t testing.TB, a *arena, sys System, n uint64) (*station, error) {
	s := &station{size: n, redis: redistest.Start(t, settles(a.redis)...), requests: drawn(n)}
	if err := s.start(ctx, t, a, sys, config(most, "day", "tenant")); err != nil {
		return nil, err
	}
	asked := min(n, remembered)
	sweep := &bench.Sweep{Domain: domain, Name: "tenant", Count: asked, Each: fillEach}
	for range 2 { // the second writes over what the first wrote, as all do from then on
		if err := fill(ctx, s.server, sweep, sweep.Calls()); err != nil {
			return nil, err
		}
	}
	if n > asked {
		if err := copyKeys(ctx, s.redis, asked, n); err != nil {
			return nil, err
		}
	}
	if keys, err := s.keys(); err != nil || keys < int64(n) {
		return nil, errors.Join(err, fmt.Errorf("%d keys in Redis, want %d", keys, n))
	}
	return s, settle(ctx, s.redis)
}

func keysInMemory(ctx context.Context, t testing.TB, a *arena, sys System, n uint64) (*station, error) {
	s := &station{size: n, requests: drawn(n)}
	if err := s.start(ctx, t, a, sys, config(most, "day", "tenant")); err != nil {
		return nil, err
	}
	sweep := &bench.Sweep{Domain: domain, Name: "tenant", Count: n, Each: fillEach}
	return s, fill(ctx, s.server, sweep, sweep.Calls())
}

// start runs the station's server until t ends.
func (s *station) start(ctx context.Context, t testing.TB, a *arena, sys System, config ...string) (err error) {
	s.system = sys
	s.server, err = a.start(ctx, "growth-"+strconv.FormatUint(s.size, 10), sys, s.redis, config...)
	if err == nil {
		t.Cleanup(func() {
			if err := s.server.stop(); err != nil {
				t.Errorf("stop %s: %v", sys.Name, err)
			}
		})
	}
	return err
}

// countText writes a whole number as it is said: 10k, 1M.
func countText(n uint64) string {
	switch {
	case n >= 1e6 && n%1e6 == 0:
		return fmt.Sprintf("%dM", n/1e6)
	case n >= 1e3 && n%1e3 == 0:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return fmt.Sprint(n)
}
