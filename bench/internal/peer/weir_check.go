package peer

import (
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

// Engine is Weir's engine as a server has it, metrics on, in one situation.
type Engine struct {
	Name string
	Keys int
	From weir.Source // of its decisions
	// New makes one that counts by the dimension tenant, in the domain default.
	New func(t testing.TB) *engine.Engine
}

// Engines returns the situations.
func Engines() []Engine {
	const (
		ample  = "policies:\n  - {id: tenants, by: [tenant], limits: [10000000/s burst 10000000], on_failure: open}\n"
		leased = "policies:\n  - {id: tenants, by: [tenant], limits: [10000000/s burst 10000000], lease: auto, on_failure: open}\n"
		scarce = "policies:\n  - {id: tenants, by: [tenant], limits: [1/h gcra], on_failure: open}\n"
	)
	return []Engine{
		{"memory, one key", 1, weir.SourceStore, newEngine(ample, false)},
		{"memory, 10k keys", 10_000, weir.SourceStore, newEngine(ample, false)},
		{"leased, one key", 1, weir.SourceLease, newEngine(leased, true)},
		{"denied by the deny cache, one key", 1, weir.SourceDenyCache, newEngine(scarce, true)},
	}
}

// newEngine makes an engine in memory with metrics and, as a server on Redis has
// them, the stages.
func newEngine(text string, stages bool) func(testing.TB) *engine.Engine {
	return func(t testing.TB) *engine.Engine {
		t.Helper()
		m, store := obs.New(obs.Options{}), memstore.New()
		o := engine.Options{Store: store, Hooks: m.Hooks()}
		if stages {
			o.Local = local.New(local.Options{Denials: local.DefaultDenials, Leases: local.LeaseOptions{Store: store}})
			o.Backstop = degrade.NewBackstop(degrade.BackstopOptions{})
			o.Gate = degrade.NewGate(degrade.GateOptions{Target: time.Second})
		}
		e := enginetest.New(t, text, o)
		m.SetLoaded(1, "v", []obs.RuleInfo{{Domain: "default", ID: "tenants"}})
		return e
	}
}
