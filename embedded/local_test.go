package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/memstore"
)

// far is a store that is not in this process's memory, as far as anyone can see.
type far struct{ weir.Store }

// TestDenyCache: what is used up is denied without a store that is shared, unless
// that is not wanted; memory is asked.
func TestDenyCache(t *testing.T) {
	for name, c := range map[string]struct {
		opts []embedded.Option
		want weir.Source
	}{
		"own memory":   {nil, weir.SourceStore},
		"given memory": {[]embedded.Option{embedded.WithStore(memstore.New())}, weir.SourceStore},
		"shared":       {[]embedded.Option{embedded.WithStore(far{memstore.New()})}, weir.SourceDenyCache},
		"off":          {[]embedded.Option{embedded.WithStore(far{memstore.New()}), embedded.WithDenyCache(0)}, weir.SourceStore},
		"small":        {[]embedded.Option{embedded.WithStore(far{memstore.New()}), embedded.WithDenyCache(1)}, weir.SourceDenyCache},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := embedded.Parse("policies:\n  - {id: p, by: [tenant], limits: [1/h], on_failure: closed}\n",
				append(c.opts, embedded.WithDeadline(10*time.Second))...)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			r := &weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}}
			var d weir.Decision
			var sources []weir.Source
			for range 3 {
				if err := l.Check(context.Background(), r, &d); err != nil {
					t.Fatal(err)
				}
				sources = append(sources, d.Source)
			}
			if sources[0] != weir.SourceStore || sources[1] != weir.SourceStore || sources[2] != c.want || d.Allowed() {
				t.Errorf("answers from %v, the last %+v; want it from %s", sources, d, c.want)
			}
		})
	}
}
