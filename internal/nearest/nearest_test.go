package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	names := []string{"limit", "key", "cost", "count", "redis-mode", "trusted_peers"}
	for word, want := range map[string]string{
		"limt": "limit", "limits": "limit", "Limit": "limit", "lmiit": "limit", "cots": "", "cuont": "count",
		"kye": "", "kez": "key", "x": "", "": "", "redis_mode": "redis-mode", "frobnicate": "",
		"trusted_peer": "trusted_peers", strings.Repeat("limit", 1000): "",
	} {
		if got := Of(word, names); got != want {
			t.Errorf("Of(%.20q) = %q, want %q", word, got, want)
		}
	}
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
