package admission

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

func TestBounded(t *testing.T) {
	seen := map[string]string{}
	for _, value := range []string{
		"", "a", strings.Repeat("x", MaxValueBytes), strings.Repeat("x", MaxValueBytes+1), strings.Repeat("x", 1<<20),
		"/search/" + strings.Repeat("x", 5000) + "a" + strings.Repeat("x", 5000) + ".php",
		"/search/" + strings.Repeat("x", 5000) + "b" + strings.Repeat("x", 5000) + ".php",
		strings.Repeat("\u00e9", 5000), "a" + strings.Repeat("\u00e9", 5000), strings.Repeat("\U0001f600", 2000),
		strings.Repeat("\x80", 5000), // of no text, and all the same bounded
	} {
		have := Bounded(value)
		if len(value) <= MaxValueBytes {
			if have != value {
				t.Errorf("%d bytes were changed", len(value))
			}
			continue
		}
		if len(have) > MaxValueBytes || !utf8.ValidString(have) || have != Bounded(value) {
			t.Errorf("%.20q: %d bytes, %.80q", value, len(have), have)
		}
		head, tail, ok := strings.Cut(have, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(value))))
		if !ok || !strings.HasPrefix(value, head) || !strings.HasSuffix(value, tail) {
			t.Errorf("%.20q became %.80q", value, have)
		}
		if utf8.ValidString(value) && (len(head) < keptBytes-3 || len(tail) < keptBytes-3) {
			t.Errorf("%.20q: %d and %d bytes are kept", value, len(head), len(tail))
		}
		if other, ok := seen[have]; ok {
			t.Errorf("%.20q and %.20q are one", value, other)
		}
		seen[have] = value
	}
}

// TestDescribeBounds: whatever the dimension, and whoever made it.
func TestDescribeBounds(t *testing.T) {
	s := &script{dec: allowed}
	p, _ := pass(t, s, Settings{}, "")
	long := strings.Repeat("x", MaxValueBytes+1)
	p.Describe(append(p.Begin(1), weir.Pair{Name: "a", Value: "short"}, weir.Pair{Name: "b", Value: long}))
	_ = p.Ask(t.Context())
	if have := s.asked[0].Descriptors[0].Pairs; have[0].Value != "short" || have[1].Value != Bounded(long) {
		t.Errorf("%.200q", have)
	}
}
