package client_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/memstore"
)

const parityPolicies = `
policies:
  - {id: tenant, by: [tenant], limits: [5/s burst 8, 20/m], on_failure: open}
  - {id: route, match: {route: "*"}, by: [tenant, route], limits: 3/s, cost: {POST /x: 2, "*": 1}, on_failure: open}
  - {id: leaky, match: {shape: yes}, by: [tenant], limits: [2/s burst 4 leaky_bucket], on_failure: open}
  - {id: busy, match: {busy: yes}, by: [tenant], concurrency: 2, on_failure: closed}
  - {id: watch, by: [tenant], limits: 2/m, mode: shadow, on_failure: open}
`

// TestParity: a remote client decides as an engine here does: two engines on
// clocks that agree are asked the same, one of them over the wire.
func TestParity(t *testing.T) {
	var now weir.Micros
	clock := memstore.WithClock(func() weir.Micros { return now })
	here := decider(t, parityPolicies, weir.Hooks{}, clock)
	there := decider(t, parityPolicies, weir.Hooks{}, clock)
	c := dial(t, serve(t, there), client.WithCharges(), client.WithDeadline(patience))
	now = weir.MicrosAt(time.Unix(1_800_000_000, 0))
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		hold := ask("tenant", rapid.StringMatching("[c-z]{8}").Draw(t, "holder"), "busy", "yes")
		hold.ID = "hold"
		parity(t, here, c, hold, false, seen)
		parityRelease(t, here, c, hold, seen)
		for range 15 {
			now += weir.Micros(rapid.SampledFrom([]int64{0, 1, 100_000, 700_000}).Draw(t, "passes"))
			r := parityRequest(t)
			if r.ID != "" && rapid.IntRange(0, 9).Draw(t, "release") == 0 {
				parityRelease(t, here, c, r, seen)
				continue
			}
			parity(t, here, c, r, rapid.Bool().Draw(t, "async"), seen)
		}
	})
	for _, what := range []string{"allow", "deny", "error", "released", "delayed", "replayed"} {
		if seen[what] == 0 {
			t.Errorf("never %s: %v", what, seen)
		}
	}
}

func parityRelease(t *rapid.T, here *engine.Engine, c *client.Client, r *weir.Request, seen map[string]int) {
	n, version, err := here.Release(context.Background(), r)
	m, v, other := c.Release(context.Background(), r)
	if n != m || version != v || (err == nil) != (other == nil) || weir.CodeOf(err) != weir.CodeOf(other) && r.Policy != "nosuch" {
		t.Fatalf("release: %d %s %v, over the wire %d %s %v", n, version, err, m, v, other)
	}
	seen["released"] += int(n)
}

func parityRequest(t *rapid.T) *weir.Request {
	r := ask("tenant", rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "tenant"))
	d := &r.Descriptors[0]
	if route := rapid.SampledFrom([]string{"", "POST /x", "/y"}).Draw(t, "route"); route != "" {
		d.Pairs = append(d.Pairs, weir.Pair{Name: "route", Value: route})
	}
	for _, p := range []weir.Pair{{Name: "shape", Value: "yes"}, {Name: "busy", Value: "yes"}} {
		if rapid.IntRange(0, 3).Draw(t, p.Name) == 0 {
			d.Pairs = append(d.Pairs, p)
		}
	}
	r.ID = rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id")
	r.Policy = rapid.SampledFrom([]string{"", "", "", "", "", "", "leaky", "nosuch"}).Draw(t, "policy")
	r.Cost = rapid.SampledFrom([]int64{0, 1, 1, 1, 2, 3, -1}).Draw(t, "cost")
	d.HasCost, d.Cost = rapid.IntRange(0, 3).Draw(t, "own") == 0, rapid.Int64Range(0, 12).Draw(t, "own cost")
	d.Refund, d.Spent = rapid.IntRange(0, 5).Draw(t, "refund") == 0, rapid.IntRange(0, 5).Draw(t, "spent") == 0
	if d.HasCost && d.Cost == 0 { // which goes as a peek, whatever else it is
		d.Refund, d.Spent = false, false
	}
	return r
}

func parity(t *rapid.T, here *engine.Engine, c *client.Client, r *weir.Request, async bool, seen map[string]int) {
	var want, got weir.Decision
	err := here.Check(context.Background(), r, &want)
	var other error
	if async {
		other = submit(context.Background(), c, r, &got)
	} else {
		other = c.Check(context.Background(), r, &got)
	}
	if err != nil || other != nil {
		seen["error"]++
		a, _ := errors.AsType[*weir.Error](err)
		b, _ := errors.AsType[*weir.Error](other)
		if a == nil || b == nil || a.Code != b.Code && r.Policy != "nosuch" { // of two mistakes, either may be told
			t.Fatalf("%+v: %v, over the wire %v", r, err, other)
		}
		return
	}
	// What the wire does not say.
	want.RuleIndex, want.SetSerial, want.Matched, want.At = -1, 0, []weir.Matched{{}}, 0
	for i := range want.Charges {
		want.Charges[i].Outcome.Before.Since = 0
	}
	if len(want.Charges) == 0 && len(got.Charges) == 0 {
		want.Charges, got.Charges = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v:\n%+v, over the wire\n%+v", r, want, got)
	}
	seen[got.Verdict.String()]++
	if got.Delay > 0 {
		seen["delayed"]++
	}
	if got.Replayed {
		seen["replayed"]++
	}
}
