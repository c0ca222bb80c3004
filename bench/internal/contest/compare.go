package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
)

// Comparison is how far answers to the same requests, one after the other, are
// the same.
type Comparison struct {
	Requests int
	Denied   int // of the peer's answers
	Rows     []Mismatch
}

// Mismatch counts the answers of one system that differ from the peer's.
type Mismatch struct {
	System   string
	Count    int
	Examples []string // the first few
}

// compareConfig has what the peer's format can say, all in windows of a day.
const compareConfig = `domain: bench
descriptors:
  - {key: tenant, rate_limit: {unit: day, requests_per_unit: 5}}
  - {key: tenant, value: t000000001, rate_limit: {unit: day, requests_per_unit: 20}}
  - {key: tenant, value: t000000002}
  - {key: tenant, value: "t00000001*", rate_limit: {unit: day, requests_per_unit: 7}}
  - key: route
    descriptors:
      - {key: method, value: POST, rate_limit: {unit: day, requests_per_unit: 9}}
      - {key: method, rate_limit: {unit: day, requests_per_unit: 30, name: any-method}}
  - {key: agent, rate_limit: {unit: day, requests_per_unit: 40}, shadow_mode: true}
  - {key: partner, rate_limit: {unlimited: true}}
`

// compareRequests have one to three descriptors, of rules of all kinds and of
// none, with costs of 1 to 3.
func compareRequests(rng *rand.Rand, n int) []weir.Request {
	one := func(name string, n uint64) []weir.Pair {
		return []weir.Pair{{Name: name, Value: number(rng.Uint64N(n))}}
	}
	kinds := []func() []weir.Pair{
		func() []weir.Pair { return one("tenant", 40) },
		func() []weir.Pair {
			method := []string{"GET", "POST", "PUT"}[rng.IntN(3)]
			return append(one("route", 20), weir.Pair{Name: "method", Value: method})
		},
		func() []weir.Pair { return one("agent", 10) },
		func() []weir.Pair { return one("partner", 10) },
		func() []weir.Pair { return one("stranger", 10) },
	}
	out := make([]weir.Request, n)
	for i := range out {
		var descriptors [][]weir.Pair
		for range 1 + rng.IntN(3) {
			descriptors = append(descriptors, kinds[rng.IntN(len(kinds))]())
		}
		out[i] = request(domain, 1+rng.Int64N(3), descriptors...)
	}
	return out
}

// compare asks the peer and each Weir for the same and counts differences.
func (a *arena) compare(ctx context.Context, rec *bench.Listed, systems []System) (*Comparison, error) {
	day := today()
	want, err := a.answers(ctx, rec, peerStock())
	if err != nil {
		return nil, err
	}
	out := &Comparison{Requests: rec.Len()}
	for _, w := range want {
		if w.Code == rlsv3.RateLimitResponse_OVER_LIMIT {
			out.Denied++
		}
	}
	for _, sys := range systems {
		got, err := a.answers(ctx, rec, sys)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, differences(sys.Name, rec, want, got))
	}
	if today() != day {
		return nil, errors.New("midnight passed while windows of a day were compared: run it again")
	}
	return out, nil
}

// today counts the windows of a day.
func today() int64 { return time.Now().Unix() / 86400 }

func (a *arena) answers(ctx context.Context, rec *bench.Listed, sys System) (out []answer, err error) {
	if err := a.flush(); err != nil {
		return nil, err
	}
	srv, err := a.start(ctx, "answers", sys, a.redis, compareConfig)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	if out, err = ask(ctx, srv, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", sys.Name, err)
	}
	return out, nil
}

// maxExamples of differences are kept.
const maxExamples = 3

func differences(system string, rec *bench.Listed, want, got []answer) Mismatch {
	m := Mismatch{System: system}
	for i := range want {
		if same(want[i], got[i]) {
			continue
		}
		m.Count++
		if len(m.Examples) < maxExamples {
			var r weir.Request
			rec.Fill(int64(i), &r)
			m.Examples = append(m.Examples, fmt.Sprintf("request %d, %s: peer %s, %s %s", i+1, requestText(&r), want[i], system, got[i]))
		}
	}
	return m
}

// requestText is a request as a person reads it: 2 of tenant=acme | agent=bot.
func requestText(r *weir.Request) string {
	var descriptors []string
	for i := range r.Descriptors {
		var pairs []string
		for _, p := range r.Descriptors[i].Pairs {
			pairs = append(pairs, p.Name+"="+p.Value)
		}
		descriptors = append(descriptors, strings.Join(pairs, ","))
	}
	return fmt.Sprintf("%d of %s", r.Cost, strings.Join(descriptors, " | "))
}

// same compares verdicts, limits and what is left of them. The end of the window
// counts down meanwhile: a minute is the slowest machine's time for a replay.
func same(a, b answer) bool {
	if a.Code != b.Code || len(a.Statuses) != len(b.Statuses) {
		return false
	}
	for i := range a.Statuses {
		x, y := a.Statuses[i], b.Statuses[i]
		if (x.Reset - y.Reset).Abs() > time.Minute {
			return false
		}
		x.Reset, y.Reset = 0, 0
		if x != y {
			return false
		}
	}
	return true
}
