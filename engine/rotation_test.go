package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/memstore"
	"pgregory.net/rapid"
)

// node is an engine with a clock of its own: the real one hardly moves during
// the test, and the instant of the rotation is moved instead.
type node struct {
	*engine.Engine
	ring *pseudonym.Ring
}

const rotationLimits = `
policies:
  - {id: p, by: [ip], limits: [1000/h, 1000/h fixed_window, 1/h burst 1000, 1000/2h sliding_log], on_failure: open}
`

// TestRotationInMemory: engines whose clocks are less than the overlap apart
// share a store while the salts change. Each request is counted once, whichever
// engine it meets and whenever; a refund is given back, a request that is sent
// again is known, a reset holds, and looking finds what the others counted.
func TestRotationInMemory(t *testing.T) {
	set := compile(t, rotationLimits)
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		store := memstore.New()
		defer func() { _ = store.Close() }()
		var nodes []*node
		for range 3 {
			n := &node{}
			e, err := engine.New(engine.Options{Store: store, Deadline: time.Minute, Pseudonyms: func() *pseudonym.Ring { return n.ring }})
			if err != nil {
				rt.Fatal(err)
			}
			e.Swap(set)
			n.Engine = e
			nodes = append(nodes, n)
		}
		ahead := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, 20 * time.Second, 50 * time.Second}), 3, 3).Draw(rt, "ahead")
		used, ids := int64(0), 0
		step := rapid.SampledFrom([]time.Duration{0, time.Second, 9 * time.Second, 31 * time.Second, time.Minute})
		for now := -3 * time.Minute; now < 10*time.Minute; now += step.Draw(rt, "pause") {
			i := rapid.IntRange(0, len(nodes)-1).Draw(rt, "node")
			n := nodes[i]
			n.ring = ringAt(t, -now-ahead[i])
			r := ask("ip", "203.0.113.7")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				r.Descriptors[0].Refund = true
				used = max(0, used-1)
			case 1:
				list, _, err := n.Usage(ctx, r)
				if err != nil {
					rt.Fatal(err)
				}
				for _, u := range list {
					if u.Outcome.Before.Used != used {
						rt.Fatalf("T%+v: node %d finds %d of %d in %s", now, i, u.Outcome.Before.Used, used, u.Limit)
					}
				}
				continue
			case 2:
				if _, _, err := n.Reset(ctx, r); err != nil {
					rt.Fatal(err)
				}
				used = 0
				continue
			case 3:
				if r.ID = fmt.Sprint("id", rapid.IntRange(1, 1+ids).Draw(rt, "id")); r.ID != fmt.Sprint("id", ids+1) {
					if d := check(t, n.Engine, r); !d.Replayed {
						rt.Fatalf("T%+v: node %d does not know %s", now, i, r.ID)
					}
					continue
				}
				ids++
				used++
			default:
				used++
			}
			d := check(t, n.Engine, r)
			if len(d.Charges) != 4 || d.Replayed {
				rt.Fatalf("%+v", d)
			}
			for _, c := range d.Charges {
				if got := c.Outcome.Remaining; got != 1000-used {
					rt.Fatalf("T%+v: node %d has %d remaining of %s, want %d", now, i, got, c.Limit, 1000-used)
				}
			}
		}
	})
}
