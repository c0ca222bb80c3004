package shed_test

import (
	"testing"

	"github.com/weirlimit/weir/shed"
)

func TestEnterAllocatesNothing(t *testing.T) {
	w := worker(t, shed.Options{Places: 4})
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		ticket, _ := w.Enter(ctx, shed.Read)
		ticket.Leave()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEnter(b *testing.B) {
	w := worker(b, shed.Options{Places: 1000})
	ctx := b.Context()
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ticket, _ := w.Enter(ctx, shed.Read)
			ticket.Leave()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				ticket, _ := w.Enter(ctx, shed.Read)
				ticket.Leave()
			}
		})
	})
}

func BenchmarkShed(b *testing.B) {
	w := worker(b, shed.Options{Places: 1, Waiting: -1})
	held := enter(b, w, shed.Read)
	defer held.Leave()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = w.Enter(b.Context(), shed.Read)
	}
}
