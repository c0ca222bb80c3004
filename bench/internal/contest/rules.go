package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/redistest"
)

// counters is how many the growth of rules is measured with, whatever their
// number: what grows is the rules alone.
const counters = 10_000

// rulesInMemory starts a server with so many rules, and counters in memory.
func rulesInMemory(ctx context.Context, t testing.TB, a *arena, sys System, n uint64) (*station, error) {
	return rules(ctx, t, a, sys, &station{size: n})
}

// rulesInRedis is the same with counters in a Redis of its own.
func rulesInRedis(ctx context.Context, t testing.TB, a *arena, sys System, n uint64) (*station, error) {
	s, err := rules(ctx, t, a, sys, &station{size: n, redis: redistest.Start(t, settles(a.redis)...)})
	if err != nil {
		return nil, err
	}
	return s, settle(ctx, s.redis)
}

func rules(ctx context.Context, t testing.TB, a *arena, sys System, s *station) (*station, error) {
	n := s.size
	list, err := record(filepath.Join(a.dir, "rules-"+strconv.FormatUint(n, 10)+".txt"), ruleRequests(n))
	if err != nil {
		return nil, err
	}
	s.requests = func(int) bench.Requests { return list }
	if err := s.start(ctx, t, a, sys, ruleFiles(n)...); err != nil {
		return nil, err
	}
	return s, fill(ctx, s.server, list, int64(list.Len()))
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
func ruleFiles(n uint64) []string {
	var files []string
	var b strings.Builder
	for i := range n {
		if i%perFile == 0 {
			b.Reset()
			fmt.Fprintf(&b, "domain: %s\ndescriptors:\n", ruleDomain(i))
		}
		fmt.Fprintf(&b, "  - {key: rule, value: %s, descriptors: [{key: tenant, rate_limit: {unit: day, requests_per_unit: %d}}]}\n", number(i), most)
		if (i+1)%perFile == 0 || i+1 == n {
			files = append(files, b.String())
		}
	}
	return files
}

// ruleRequests ask for all of counters, over all rules or as many as that.
func ruleRequests(n uint64) []weir.Request {
	rng := rand.New(rand.NewPCG(n, 1))
	apart := max(1, n/counters)
	out := make([]weir.Request, recordLen)
	for i := range out {
		c := rng.Uint64N(counters)
		rule := c * apart % n
		out[i] = request(ruleDomain(rule), 1, []weir.Pair{{Name: "rule", Value: number(rule)}, {Name: "tenant", Value: number(c)}})
	}
	return out
}
