package measure

import "testing"

func TestKeysAreDistinctAndStable(t *testing.T) {
	const n = 10_000
	seen := make(map[string]int, n)
	for i := range n {
		k := newKey(i)
		if len(k) != KeyBytes {
			t.Fatalf("key %d has %d bytes, want %d", i, len(k), KeyBytes)
		}
		if j, ok := seen[k]; ok {
			t.Fatalf("keys %d and %d are both %s", i, j, k)
		}
		if k != newKey(i) {
			t.Fatalf("key %d is another one each time", i)
		}
		seen[k] = i
	}
}

// A sequence asks for every key as often as it has passes, in another order
// each time.
func TestSequence(t *testing.T) {
	const n, passes = 100, 3
	seq := sequence(n, passes)
	if len(seq) != n*passes {
		t.Fatalf("%d keys, want %d", len(seq), n*passes)
	}
	counts := map[string]int{}
	for _, k := range seq {
		counts[k]++
	}
	for i := range n {
		if got := counts[newKey(i)]; got != passes {
			t.Errorf("key %d is asked for %d times, want %d", i, got, passes)
		}
	}
	same := 0
	for i := range n {
		if seq[i] == seq[n+i] {
			same++
		}
	}
	if same > n/2 {
		t.Errorf("%d of %d keys stand at the same place in two passes", same, n)
	}
}
