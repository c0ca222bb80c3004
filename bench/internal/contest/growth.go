package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
)

// growthPlan is how far to go.
type growthPlan struct {
	redisKeys  []uint64
	memoryKeys []uint64
	rules      []int
	samples    int // of a size
	warmUp     time.Duration
	measure    time.Duration
	log        func(string, ...any)
}

// Filling is quick with the most descriptors that a request may have, and with
// callers enough for full batches, whose answers do not take a deadline.
const (
	fillBatch   = 16
	fillCallers = 64
)

// keysCurve measures one server as the counters it has grow. All keys of a size
// exist before it is measured.
func (a *arena) keysCurve(ctx context.Context, c Curve, sys System, sizes []uint64, p growthPlan) (_ Curve, err error) {
	c.Unit, c.System = "keys", sys.Name
	if err := a.flush(); err != nil {
		return c, err
	}
	srv, err := a.start(ctx, "growth", sys, config(10_000_000, "tenant"))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	had := uint64(0)
	for _, n := range sizes {
		p.log("%s: %s keys", c.Name, countText(n))
		keys := rlsload.Keys{Domain: domain, Key: "tenant", First: had, Count: n - had, Batch: fillBatch}
		if err := a.fill(ctx, srv, keys); err != nil {
			return c, err
		}
		had = n
		point := Point{X: float64(n)}
		for i := range p.samples {
			keys := rlsload.Keys{Domain: domain, Key: "tenant", Count: n, Seed: uint64(i + 1)}
			s, err := a.measure(ctx, srv, turn{system: sys, script: keys.Script(), warmUp: p.warmUp, measure: p.measure})
			if err != nil {
				return c, fmt.Errorf("%s keys: %w", countText(n), err)
			}
			point.Samples = append(point.Samples, s)
		}
		c.Points = append(c.Points, point)
	}
	return c, nil
}

// fill asks for every key once.
func (a *arena) fill(ctx context.Context, srv *server, keys rlsload.Keys) error {
	const bound = 10 * time.Minute
	t, err := rlsload.Closed{
		Addr: srv.addr, Script: keys.Script(), Conns: connections, Callers: fillCallers,
		Measure: bound, Calls: keys.Calls(),
	}.Run(ctx)
	if err == nil && t.Failed > 0 {
		err = fmt.Errorf("%d requests failed", t.Failed)
	}
	if err != nil {
		return fmt.Errorf("fill %d keys: %w", keys.Count, err)
	}
	return nil
}

// counters is how many the growth of rules is measured with, whatever their
// number: what grows is the rules alone.
const counters = 10_000

// rulesCurve measures a server for each number of rules.
func (a *arena) rulesCurve(ctx context.Context, c Curve, sys System, p growthPlan) (Curve, error) {
	c.Unit, c.System = "rules", sys.Name
	for _, n := range p.rules {
		p.log("%s: %s rules", c.Name, countText(uint64(n)))
		point, err := a.rulesPoint(ctx, n, sys, p)
		if err != nil {
			return c, fmt.Errorf("%d rules: %w", n, err)
		}
		c.Points = append(c.Points, point)
	}
	return c, nil
}

func (a *arena) rulesPoint(ctx context.Context, n int, sys System, p growthPlan) (_ Point, err error) {
	point := Point{X: float64(n)}
	script, err := rlsload.NewScript(ruleRecording(n))
	if err != nil {
		return point, err
	}
	srv, err := a.start(ctx, "rules", sys, ruleFiles(n)...)
	if err != nil {
		return point, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	for range p.samples {
		s, err := a.measure(ctx, srv, turn{system: sys, script: script, warmUp: p.warmUp, measure: p.measure})
		if err != nil {
			return point, err
		}
		point.Samples = append(point.Samples, s)
	}
	return point, nil
}

// interleave has a curve measured with one sample a size, as often as there are
// to be samples: a busy minute of the machine falls on all sizes.
func interleave(p growthPlan, measure func(growthPlan) (Curve, error)) (Curve, error) {
	times := p.samples
	p.samples = 1
	var sum Curve
	for i := range times {
		c, err := measure(p)
		if err != nil {
			return c, err
		}
		if i == 0 {
			sum = c
			continue
		}
		for j := range sum.Points {
			sum.Points[j].Samples = append(sum.Points[j].Samples, c.Points[j].Samples...)
		}
	}
	return sum, nil
}

// perFile is how many rules a file has at most, each file with a domain.
const perFile = 10_000

// ruleDomain is the domain of a rule.
func ruleDomain(rule uint64) string {
	if file := rule / perFile; file > 0 {
		return fmt.Sprint(domain, file)
	}
	return domain
}

// ruleFiles have n rules, each with a counter for each tenant.
func ruleFiles(n int) []string {
	var files []string
	var b strings.Builder
	for i := range uint64(n) {
		if i%perFile == 0 {
			b.Reset()
			fmt.Fprintf(&b, "domain: %s\ndescriptors:\n", ruleDomain(i))
		}
		fmt.Fprintf(&b, "  - {key: rule, value: %s, descriptors: [{key: tenant, rate_limit: {unit: hour, requests_per_unit: 10000000}}]}\n",
			rlsload.Number(i))
		if (i+1)%perFile == 0 || i+1 == uint64(n) {
			files = append(files, b.String())
		}
	}
	return files
}

// ruleRecording asks for all of counters, over all rules or as many as that.
func ruleRecording(n int) rlsload.Recording {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	apart := max(1, n/counters)
	out := make(rlsload.Recording, recordLen)
	for i := range out {
		c := rng.Uint64N(counters)
		rule := c * uint64(apart) % uint64(n)
		out[i] = rlsload.Request{Domain: ruleDomain(rule), Descriptors: []rlsload.Descriptor{{
			{Key: "rule", Value: rlsload.Number(rule)},
			{Key: "tenant", Value: rlsload.Number(c)},
		}}}
	}
	return out
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
