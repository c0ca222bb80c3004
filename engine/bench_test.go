package engine_test

import (
	"context"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

func TestCheckDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items under the race detector, so that it is not about the engine")
	}
	e := start(t, memstore.New(), weir.Hooks{}, `
policies:
  - {id: users, by: [tenant, user], limits: [1000000/m], on_failure: open}
  - {id: tenants, by: [tenant], limits: [10000000/h, 1000000/s burst 1000000], on_failure: open}
`)
	r, d := ask("tenant", "acme", "user", "ann"), weir.Decision{}
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() { _ = e.Check(ctx, r, &d) }); n != 0 {
		t.Errorf("%v allocations a check", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	e := start(b, memstore.New(), weir.Hooks{}, "policies:\n  - {id: p, by: [tenant], limits: [10000000/s burst 10000000], on_failure: open}\n")
	r, d := ask("tenant", "acme"), weir.Decision{}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Check(ctx, r, &d); err != nil || !d.Allowed() {
			b.Fatal(err, d)
		}
	}
}
