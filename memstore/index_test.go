package memstore

import (
	"math/rand/v2"
	"testing"
)

// tags few enough to share homes and, now and then, each other.
func crowdedTag(rng *rand.Rand) uint32 {
	return uint32(rng.IntN(40)) << 27
}

func TestIndexAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var x index
	want := map[uint32]uint32{} // reference to tag
	for step := range 20_000 {
		ref := uint32(rng.IntN(200) + 1)
		tag, held := want[ref]
		switch {
		case held && rng.IntN(2) == 0:
			if !x.remove(tag, ref) {
				t.Fatalf("step %d: %d is gone before it was removed", step, ref)
			}
			delete(want, ref)
		case !held:
			if x.full() {
				x.grow()
			}
			tag = crowdedTag(rng)
			x.insert(tag, ref)
			want[ref] = tag
		}
		if step%100 == 0 {
			checkIndex(t, &x, want)
		}
	}
	checkIndex(t, &x, want)
}

func checkIndex(t *testing.T, x *index, want map[uint32]uint32) {
	t.Helper()
	used := 0
	for _, slot := range x.slots {
		if slot != 0 {
			used++
		}
	}
	if used != len(want) || x.n != len(want) {
		t.Fatalf("%d slots in use, n is %d, want %d", used, x.n, len(want))
	}
	for ref, tag := range want {
		if x.position(tag, ref) < 0 {
			t.Fatalf("%d with tag %x is not found", ref, tag)
		}
	}
}

func TestIndexRemovesWhatIsThereOnly(t *testing.T) {
	var x index
	if x.remove(7, 1) {
		t.Error("an empty index removed something")
	}
	x.grow()
	x.insert(7, 1)
	if x.remove(7, 2) || x.remove(8, 1) {
		t.Error("another reference or another tag was removed")
	}
	if !x.remove(7, 1) || x.n != 0 {
		t.Errorf("what was inserted was not removed: n is %d", x.n)
	}
}
