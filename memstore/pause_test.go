package memstore

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

// What holds a shard's lock longest, at a million keys: growing its table,
// looking through all of it, and freeing all of it.
func BenchmarkWorstPause(b *testing.B) {
	meter := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10, Window: weir.Second})
	fill := func() *shardModel {
		m := newShardModel(usualPerShard)
		for i := range usualPerShard {
			m.put(fmt.Sprintf("tenant:%010d:route:%04d", i, i%7919), meter, 1)
		}
		return m
	}
	b.Run("grow", func(b *testing.B) {
		m := fill()
		full := m.shard.tables[4]
		for b.Loop() {
			t := full
			t.grow(full.cellSize, hasher{m.shard, 4})
		}
	})
	b.Run("look", func(b *testing.B) {
		m := fill()
		for b.Loop() {
			for i := range m.shard.tables[4].dues {
				m.shard.tables[4].dues[i] = 0
			}
			m.shard.sweep(0, everySegment, nil)
		}
	})
	b.Run("free", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m := fill()
			m.now += weir.Minute
			b.StartTimer()
			m.shard.sweep(m.store.tick(m.now), everySegment, nil)
		}
	})
}
