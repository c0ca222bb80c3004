package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/weirlimit/weir"
)

// generator writes a random script. It plays what it writes on a model, so
// that it can aim: at the instants at which a charge would just fit, and at
// the costs that just do not.
type generator struct {
	*rand.Rand
	*profile
	oracle   *oracle
	steps    []step
	limits   []weir.Limit
	assigned map[string]int // key, or tag if there are twins, to index of its limit
	sent     []entry
	instants []weir.Micros // worth a visit
	costs    []int64       // worth a try
}

// generate returns the script of a seed. The same seed gives the same script.
func generate(pr *profile, seed uint64) []step {
	g := &generator{
		Rand:     rand.New(rand.NewPCG(seed, 0)),
		profile:  pr,
		oracle:   newOracle("generate"),
		assigned: make(map[string]int),
	}
	g.defineLimits()
	for range stepsPerHistory {
		if s := g.step(); s != nil {
			g.add(*s)
		}
	}
	return g.steps
}

// defineLimits picks a handful of the profile's limits: with all of them no
// two keys would ever share one.
func (g *generator) defineLimits() {
	for i, n := range g.Perm(len(g.profile.limits))[:min(4, len(g.profile.limits))] {
		limit := meter(g.profile.limits[n]).Limit
		g.limits = append(g.limits, limit)
		g.add(step{verb: verbLimit, name: limitName(i), limit: limit})
	}
}

func limitName(i int) string { return fmt.Sprintf("l%d", i) }

// limitIndex is limitName's way back.
func (g *generator) limitIndex(name string) int {
	for i := range g.limits {
		if limitName(i) == name {
			return i
		}
	}
	return 0
}

// add keeps a step if it has a right answer, and learns from the answer.
func (g *generator) add(s step) {
	_, err := g.oracle.play(&s)
	if errors.Is(err, errUnspecified) {
		if s.verb != verbEntry || len(g.oracle.last) == 0 {
			return
		}
		s.entries = s.entries[:len(g.oracle.last)] // see oracle.play
	} else if err != nil {
		panic(err) // a bug of the generator
	}
	g.steps = append(g.steps, s)
	if s.verb == verbEntry {
		g.sent = append(g.sent, s.entries...)
		g.learn()
	}
}

func (g *generator) learn() {
	for _, outcomes := range g.oracle.last {
		for _, o := range outcomes {
			g.costs = append(g.costs, o.Remaining, o.Remaining+1)
			if o.RetryAfter > 0 && o.RetryAfter != weir.Never {
				g.instants = append(g.instants, g.oracle.now+o.RetryAfter)
			}
			if o.ResetAfter > 0 {
				g.instants = append(g.instants, g.oracle.now+o.ResetAfter)
			}
		}
	}
	g.costs = g.costs[max(0, len(g.costs)-6):]
	g.instants = g.instants[max(0, len(g.instants)-6):]
}

// chance is true in n of 100 cases.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

func (g *generator) step() *step {
	switch {
	case g.chance(30):
		return &step{verb: verbAt, span: g.instant() - Base}
	case g.chance(6):
		key := g.key(g.IntN(g.tags))
		return &step{verb: verbRead, name: key, under: g.limitOf(key)}
	case g.chance(2):
		return &step{verb: verbReset, name: g.key(g.IntN(g.tags))}
	}
	s := &step{verb: verbEntry, times: 1}
	for range 1 + g.IntN(g.entries) {
		if e, ok := g.entry(); ok {
			s.entries = append(s.entries, e)
		}
	}
	if len(s.entries) == 0 {
		return nil
	}
	return s
}

// lastInstant is as far as histories go. In 2112 instants reach 2^52 us, and
// debts of as much can no longer be added to them in a float64.
const lastInstant = Base + 5*weir.Year

// instant picks where the clock goes.
func (g *generator) instant() weir.Micros {
	return min(g.anyInstant(), lastInstant)
}

func (g *generator) anyInstant() weir.Micros {
	now := g.oracle.now
	if g.chance(g.back) {
		return now - weir.Micros(g.Int64N(int64(3*weir.Second)))
	}
	if n := len(g.instants); n > 0 && g.chance(70) {
		return max(now, g.instants[g.IntN(n)]+weir.Micros(g.IntN(3)-1))
	}
	span := math.Exp(g.Float64() * math.Log(float64(2*weir.Hour))) // 1 us to 2 h, each magnitude alike
	return now + weir.Micros(span)
}

func (g *generator) key(tag int) string { return fmt.Sprintf("k%d@%d", g.IntN(g.keys), tag) }

// limitOf returns the name of key's limit, which may just have changed.
func (g *generator) limitOf(key string) string {
	if g.twins > 0 {
		_, key, _ = strings.Cut(key, "@")
	}
	i, ok := g.assigned[key]
	if !ok || g.chance(g.relimit) {
		i = g.IntN(len(g.limits))
		g.assigned[key] = i
	}
	return limitName(i)
}

// entry makes one that is valid, or none.
func (g *generator) entry() (entry, bool) {
	if n := len(g.sent); n > 0 && g.chance(g.again) {
		return g.sent[n-1-g.IntN(min(n, 8))], true
	}
	var e entry
	if g.chance(g.ids) {
		e.id = fmt.Sprintf("r%d", g.IntN(6))
	}
	tag := g.IntN(g.tags)
	upTo := g.chance(g.modes / 5)
	for range 1 + g.IntN(g.charges) {
		c := g.charge(tag)
		if upTo {
			c.mode, c.group = weir.UpTo, 0
		}
		e.charges = append(e.charges, c)
	}
	built, err := g.oracle.entry(&e)
	return e, err == nil && built.Validate() == nil
}

func (g *generator) charge(tag int) charge {
	c := charge{key: g.key(tag)}
	c.limit = g.limitOf(c.key)
	c.cost = g.cost(g.limits[g.limitIndex(c.limit)].Capacity())
	if g.chance(g.twins) {
		c.twin = g.key(tag)
		c.twinning = weir.TwinNext + weir.Twinning(g.IntN(3))
	}
	if g.chance(g.modes) {
		c.mode = weir.Mode(g.IntN(int(weir.Refund) + 1))
	}
	if g.chance(g.groups) && (c.mode == weir.Enforce || c.mode == weir.Always) {
		c.group = uint8(1 + g.IntN(2))
	}
	return c
}

func (g *generator) cost(capacity int64) int64 {
	switch n := g.IntN(100); {
	case n < 5:
		return 0
	case n < 45:
		return 1
	case n < 70 && len(g.costs) > 0:
		return g.costs[g.IntN(len(g.costs))]
	case n < 80:
		return capacity
	case n < 83:
		return capacity + 1
	case n < 84:
		return math.MaxInt64
	}
	return 1 + g.Int64N(capacity)
}
