package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/weirlimit/weir/internal/bench"
)

// contender is a scenario with its recorded requests.
type contender struct {
	Scenario
	requests, fill *bench.Listed
}

// span is how long a turn is warmed up and measured.
func (p Plan) span() (warmUp, length time.Duration) {
	if p.Quick {
		return 300 * time.Millisecond, 700 * time.Millisecond
	}
	return 700 * time.Millisecond, 2500 * time.Millisecond
}

// scenarios takes the turns, round by round.
func (p Plan) scenarios(ctx context.Context, a *arena, eng []string, res *Result) error {
	_, length := p.span()
	res.Seconds = length.Seconds()
	var wanted []contender
	for i, sc := range scenarios(eng) {
		if !p.wants(sc.Name) {
			continue
		}
		c, err := p.prepare(sc, i+1)
		if err != nil {
			return err
		}
		t := Table{Name: sc.Name, Note: sc.Note, Open: sc.Open}
		for _, sys := range sc.Systems {
			t.Rows = append(t.Rows, Row{System: sys.Name, Ours: sys.Ours, Against: sys.Against})
		}
		res.Scenarios, wanted = append(res.Scenarios, t), append(wanted, c)
	}
	for round := range p.Rounds {
		for i, c := range wanted {
			for j, sys := range c.Systems {
				s, err := p.attempt(ctx, a, c, sys)
				if err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
				p.Log("round %d/%d, %s: %s: %.0f/s, %.1f+%.1f us", round+1, p.Rounds, c.Name, sys.Name, s.Rate, s.Server, s.RedisCPU)
				row := &res.Scenarios[i].Rows[j]
				row.Samples = append(row.Samples, s)
			}
		}
	}
	return nil
}

// prepare records a scenario's requests.
func (p Plan) prepare(sc Scenario, n int) (c contender, err error) {
	name := "scenario-" + strconv.Itoa(n)
	c.Scenario = sc
	if c.requests, err = p.recording(name, sc.Record(rand.New(rand.NewPCG(p.Seed, uint64(n))), recordLen)); err != nil {
		return c, err
	}
	if sc.Fill != nil {
		c.fill, err = p.recording(name+"-fill", sc.Fill)
	}
	return c, err
}

// attempts a turn has: a window of an hour may end in one, and another program
// may stop the machine for a second, and for some more.
const attempts = 4

// attempt takes a turn, and takes it again when it is refused. The last is kept
// with why it was: a run is not to end with one turn of many, and the document
// tells.
func (p Plan) attempt(ctx context.Context, a *arena, c contender, sys System) (Sample, error) {
	warmUp, length := p.span()
	t := turn{name: "scenario", config: c.Config, system: sys, fill: c.fill, load: load{
		requests: c.requests, rate: c.rate(), warmUp: max(warmUp, c.WarmUp), measure: length, scrape: true,
	}}
	return p.insist(ctx, c.Scenario, sys, func() (Sample, error) { return a.take(ctx, t) })
}

// insist takes a turn until it is not refused, or often enough.
func (p Plan) insist(ctx context.Context, sc Scenario, sys System, take func() (Sample, error)) (Sample, error) {
	for n := 1; ; n++ {
		s, err := take()
		if err != nil {
			return s, err
		}
		wrong := sc.check(sys, s)
		if wrong == nil {
			return s, nil
		}
		if n == attempts {
			p.Log("%s: refused, and kept: %v", sc.Name, wrong)
			s.Refused = wrong.Error()
			return s, nil
		}
		p.Log("%s: refused, once more: %v", sc.Name, wrong)
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(time.Duration(n) * p.pause()):
		}
	}
}

// pause is before a turn is taken again, longer each time.
func (p Plan) pause() time.Duration {
	if p.Quick {
		return 100 * time.Millisecond
	}
	return time.Second
}

func (sc Scenario) rate() int {
	if sc.Open {
		return openRate
	}
	return 0
}

// check refuses a turn that did not measure what it should have.
func (sc Scenario) check(sys System, s Sample) error {
	const few = 0.001
	all := float64(s.OK + s.Denied + s.Failed)
	denied := float64(s.Denied) / max(all, 1)
	switch {
	case all == 0:
		return fmt.Errorf("%s: no answers", sys.Name)
	case float64(s.Failed) > few*all:
		return fmt.Errorf("%s: %d of %.0f requests failed: %s", sys.Name, s.Failed, all, s.Why)
	case sc.Name == DeniedFlood && denied < 1-few, sc.Name != DeniedFlood && denied > 0:
		return fmt.Errorf("%s: %.2f%% of the requests were denied", sys.Name, denied*100)
	case sc.Redis && sys.Ours && !sys.Memory && s.Sources["store"] < 1-few:
		return fmt.Errorf("%s: decisions by other sources than Redis: %v", sys.Name, s.Sources)
	}
	return nil
}
