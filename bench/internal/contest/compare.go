package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
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

// compareRecording has one to three descriptors a request, of rules of all
// kinds and of none, with costs of 1 to 3.
func compareRecording(rng *rand.Rand, n int) rlsload.Recording {
	number := func(n uint64) string { return rlsload.Number(rng.Uint64N(n)) }
	kinds := []func() rlsload.Descriptor{
		func() rlsload.Descriptor { return rlsload.Descriptor{{Key: "tenant", Value: number(40)}} },
		func() rlsload.Descriptor {
			method := []string{"GET", "POST", "PUT"}[rng.IntN(3)]
			return rlsload.Descriptor{{Key: "route", Value: number(20)}, {Key: "method", Value: method}}
		},
		func() rlsload.Descriptor { return rlsload.Descriptor{{Key: "agent", Value: number(10)}} },
		func() rlsload.Descriptor { return rlsload.Descriptor{{Key: "partner", Value: number(10)}} },
		func() rlsload.Descriptor { return rlsload.Descriptor{{Key: "stranger", Value: number(10)}} },
	}
	out := make(rlsload.Recording, n)
	for i := range out {
		out[i] = rlsload.Request{Domain: domain, Hits: rng.Uint32N(4)}
		for range 1 + rng.IntN(3) {
			out[i].Descriptors = append(out[i].Descriptors, kinds[rng.IntN(len(kinds))]())
		}
	}
	return out
}

// compare asks the peer and each Weir for the same and counts differences.
func (a *arena) compare(ctx context.Context, rec rlsload.Recording, systems []System) (*Comparison, error) {
	day := today()
	want, err := a.answers(ctx, rec, peerStock())
	if err != nil {
		return nil, err
	}
	out := &Comparison{Requests: len(rec)}
	for _, w := range want {
		if w.Code == rlsload.CodeOverLimit {
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

func (a *arena) answers(ctx context.Context, rec rlsload.Recording, sys System) (out []rlsload.Answer, err error) {
	if err := a.flush(); err != nil {
		return nil, err
	}
	srv, err := a.start(ctx, "answers", sys, compareConfig)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	if out, err = rlsload.Ask(ctx, srv.addr, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", sys.Name, err)
	}
	return out, nil
}

// maxExamples of differences are kept.
const maxExamples = 3

func differences(system string, rec rlsload.Recording, want, got []rlsload.Answer) Mismatch {
	m := Mismatch{System: system}
	for i := range want {
		if same(want[i], got[i]) {
			continue
		}
		m.Count++
		if len(m.Examples) < maxExamples {
			m.Examples = append(m.Examples, fmt.Sprintf("request %d, %s: peer %+v, %s %+v", i+1, rec[i], want[i], system, got[i]))
		}
	}
	return m
}

// same compares verdicts, limits and what is left of them. The end of the window
// counts down meanwhile: a minute is the slowest machine's time for a replay.
func same(a, b rlsload.Answer) bool {
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
