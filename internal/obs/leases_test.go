package obs

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLeases(t *testing.T) {
	m := New(Options{})
	m.Leases(func() Leases {
		return Leases{
			Taken: 10, Spent: 7, Lost: 1, Held: 2, Keys: 1, Full: 3, Short: 2, Empty: 1, Failed: 4, Crowded: 5,
			Bound: 40, Share: 0.04, HotKeys: 6, Rates: [10]float64{123.5, 7},
		}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`weir_lease_tokens_total{what="taken"} 10`, `weir_lease_tokens_total{what="spent"} 7`, `weir_lease_tokens_total{what="lost"} 1`,
		`weir_leases_total{result="full"} 3`, `weir_leases_total{result="short"} 2`, `weir_leases_total{result="none"} 1`,
		`weir_leases_total{result="error"} 4`, `weir_leases_total{result="crowded"} 5`,
		`weir_lease_tokens_held 2`, `weir_lease_keys 1`, `weir_lease_overadmission_bound 40`, `weir_lease_overadmission_share 0.04`,
		`weir_hot_keys 6`, `weir_hot_key_rate{rank="1"} 123.5`, `weir_hot_key_rate{rank="2"} 7`, `weir_hot_key_rate{rank="10"} 0`,
	} {
		if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}
