package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/memstore"
)

// TestLeases: hot counters of a store that is shared are leased, where the
// program and the policy say so.
func TestLeases(t *testing.T) {
	const auto, off = "policies:\n  - {id: p, by: [tenant], limits: [1000000/h], lease: auto, on_failure: closed}\n",
		"policies:\n  - {id: p, by: [tenant], limits: [1000000/h], on_failure: closed}\n"
	for name, c := range map[string]struct {
		text  string
		store weir.Store
		opts  []embedded.Option
		want  bool
	}{
		"leased":         {auto, far{memstore.New()}, []embedded.Option{embedded.WithLeases(embedded.Leases{})}, true},
		"few instances":  {auto, far{memstore.New()}, []embedded.Option{embedded.WithLeases(embedded.Leases{}), embedded.WithInstances(func() int { return 3 })}, true},
		"too many":       {auto, far{memstore.New()}, []embedded.Option{embedded.WithLeases(embedded.Leases{}), embedded.WithInstances(func() int { return 60_000 })}, false},
		"not asked for":  {auto, far{memstore.New()}, nil, false},
		"not the policy": {off, far{memstore.New()}, []embedded.Option{embedded.WithLeases(embedded.Leases{})}, false},
		"not hot":        {auto, far{memstore.New()}, []embedded.Option{embedded.WithLeases(embedded.Leases{HotRate: 1e9})}, false},
		"memory":         {auto, memstore.New(), []embedded.Option{embedded.WithLeases(embedded.Leases{})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := embedded.Parse(c.text, append(c.opts, embedded.WithStore(c.store), embedded.WithDeadline(10*time.Second))...)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			r := &weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
			var d weir.Decision
			leased := 0
			for range 5000 {
				if err := l.Check(context.Background(), r, &d); err != nil || !d.Allowed() {
					t.Fatal(err, d)
				}
				if d.Source == weir.SourceLease {
					leased++
				}
			}
			if (leased > 0) != c.want {
				t.Errorf("%d of 5000 from leases", leased)
			}
		})
	}
	for _, l := range []embedded.Leases{{Share: 0.6}, {Refresh: time.Second}} {
		if _, err := embedded.Parse(auto, embedded.WithStore(far{memstore.New()}), embedded.WithLeases(l)); weir.CodeOf(err) != weir.CodeInvalid {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
