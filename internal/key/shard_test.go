package key

import (
	"testing"

	"github.com/weirlimit/weir"
)

// TestSiblings: the sub-counters of one counter have keys of each other's form,
// each in a slot of its own.
func TestSiblings(t *testing.T) {
	for _, k := range []Key{
		{Partition: "acme"},
		{Partition: ""},
		{Partition: "}%!02"},
		{Partition: long("x")},
		{Hidden: true, Slot: 7},
	} {
		k.Domain, k.Rule, k.Algorithm, k.Window = "d", "r", weir.GCRA, weir.Second
		slots := map[uint16]bool{}
		k.Shard = 1
		first := encode(k)
		for shard := uint8(1); shard <= MaxShard; shard++ {
			k.Shard = shard
			if got := Sibling(first, shard); got != encode(k) {
				t.Errorf("Sibling(%q, %d) = %q, want %q", first, shard, got, encode(k))
			}
			slots[Slot(encode(k))] = true
		}
		if len(slots) != MaxShard {
			t.Errorf("%q: %d slots of %d sub-counters", first, len(slots), MaxShard)
		}
		k.Shard = 0
		if whole := encode(k); Sibling(whole, 3) != whole {
			t.Errorf("a counter that is not split has the sibling %q", Sibling(whole, 3))
		}
	}
}

func TestShardCostsNothing(t *testing.T) {
	k := Key{Partition: "acme", Shard: 3, Domain: "d", Rule: "r", Algorithm: weir.GCRA, Window: weir.Second}
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf = Append(buf[:0], &k) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
