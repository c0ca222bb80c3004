package obs

import "testing"

func TestStandby(t *testing.T) {
	m := New(Options{})
	if _, ok := scrape(t, m)["weir_backstop_keys"]; ok {
		t.Error("there is nobody to ask")
	}
	m.SetStandby(Standby{
		BackstopKeys: func() int { return 7 },
		InFlight:     func() (now, limit int64) { return 3, 256 },
		Forced:       func() (all, policies int) { return 1, 2 },
	})
	got := scrape(t, m)
	for name, want := range map[string]float64{
		"weir_backstop_keys": 7, "weir_in_flight_checks": 3, "weir_in_flight_limit": 256,
		`weir_switch_forced{scope="all"}`: 1, `weir_switch_forced{scope="policy"}`: 2,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
