package main

import (
	"strconv"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// TestMemoryKeys: a server keeps as many counters as it is told.
func TestMemoryKeys(t *testing.T) {
	meter, err := weir.NewMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10, Window: 3600 * weir.Second, Burst: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{600, 4000} {
		f := redisFlags{memoryKeys: most}
		s, _, err := f.openFor(t.Context(), noEnv, weir.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		store := s.(*memstore.Store)
		for i := range 3000 {
			if _, err := store.Take(strconv.Itoa(i), meter, 1); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := store.Stats().Keys, min(most, 3000); int(got) != want {
			t.Errorf("%d counters are kept of 3000, want %d", got, want)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMemoryKeysHoldOneRequest: a store without room for all counters of one
// request answers with an error, which its policies' on_failure lets through.
func TestMemoryKeysHoldOneRequest(t *testing.T) {
	for keys, ok := range map[int]bool{0: false, 1: false, weir.MaxCharges - 1: false, weir.MaxCharges: true} {
		if err := (&memoryFlags{keys: keys}).validate(); (err == nil) != ok {
			t.Errorf("--memory-keys %d: %v", keys, err)
		}
	}
}
