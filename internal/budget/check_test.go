//go:build unix

package budget_test

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/memstore"
)

// loop runs f as b.Loop does, and reports the processor time of the process.
func loop(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	runtime.GC() // what was made before is not collected meanwhile
	b.ResetTimer()
	began := cpu(b)
	for range b.N {
		f()
	}
	b.StopTimer()
	b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
}

// cpu is what the process has used so far.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	ample  = "policies:\n  - {id: tenants, by: [tenant], limits: [10000000/s burst 10000000], on_failure: open}\n"
	leased = "policies:\n  - {id: tenants, by: [tenant], limits: [10000000/s burst 10000000], lease: auto, on_failure: open}\n"
	scarce = "policies:\n  - {id: tenants, by: [tenant], limits: [1/h gcra], on_failure: open}\n"
	three  = `
policies:
  - {id: tenants, by: [tenant], limits: [10000000/s burst 10000000], on_failure: open}
  - {id: regions, by: [tenant, region], limits: [10000000/s burst 10000000], on_failure: open}
  - {id: all, limits: [10000000/s burst 10000000], on_failure: open}
`
)

func request() *weir.Request {
	return &weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{
		{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}, {Name: "region", Value: "eu-1"}}},
	}}
}

// node is an engine in memory with metrics and, as a server has them, the
// stages.
func node(b *testing.B, text string, stages bool) *engine.Engine {
	b.Helper()
	m, store := obs.New(obs.Options{}), memstore.New()
	o := engine.Options{Store: store, Hooks: m.Hooks()}
	if stages {
		o.Local = local.New(local.Options{
			Denials: local.DefaultDenials, Leases: local.LeaseOptions{Store: store},
		})
		o.Backstop = degrade.NewBackstop(degrade.BackstopOptions{})
		o.Gate = degrade.NewGate(degrade.GateOptions{Target: time.Second})
	}
	e := enginetest.New(b, text, o)
	m.SetLoaded(1, "v", []obs.RuleInfo{{Domain: "default", ID: "tenants"}, {Domain: "default", ID: "regions"}, {Domain: "default", ID: "all"}})
	return e
}

// settled is how long an engine takes to learn its clock, and more.
const settled = 30 * time.Millisecond

// warm asks until the answer comes from there, and the engine has settled.
func warm(b *testing.B, e *engine.Engine, from weir.Source) {
	b.Helper()
	var d weir.Decision
	hits := 0
	for began := time.Now(); hits < 1000 || time.Since(began) < settled; {
		if err := e.Check(context.Background(), request(), &d); err != nil {
			b.Fatal(err)
		}
		if d.Source == from {
			hits++
		}
		if time.Since(began) > 20*time.Second {
			b.Fatalf("answers come from %s, not from %s", d.Source, from)
		}
	}
}

// BenchmarkCheck is engine.Check, all of it, metrics on.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name, text string
		stages     bool
		from       weir.Source
	}{
		{"memory", ample, false, weir.SourceStore},
		{"memory-three-limits", three, false, weir.SourceStore},
		{"stages", ample, true, weir.SourceStore},
		{"leased", leased, true, weir.SourceLease},
		{"denied", scarce, true, weir.SourceDenyCache},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := node(b, c.text, c.stages)
			warm(b, e, c.from)
			r, d, ctx, elsewhere := request(), weir.Decision{}, context.Background(), 0
			loop(b, func() {
				if err := e.Check(ctx, r, &d); err != nil {
					b.Fatal(err)
				}
				if d.Source != c.from {
					elsewhere++
				}
			})
			if elsewhere*100 > b.N+10_000 {
				b.Fatalf("%d of %d were not from %s", elsewhere, b.N, c.from)
			}
		})
	}
}
