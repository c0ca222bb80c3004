package obs

import "github.com/prometheus/client_golang/prometheus"

// Standby is what there is to say of the stages that stand in for the store. It
// is asked at every scrape; a nil func is nothing to say.
type Standby struct {
	BackstopKeys func() int                 // keys that the backstop remembers
	InFlight     func() (now, limit int64)  // requests that wait for the store, and may
	Forced       func() (all, policies int) // what the switch forces
}

// SetStandby says whom to ask.
func (m *Metrics) SetStandby(s Standby) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.standby = s
}

var (
	backstopKeys  = desc("backstop_keys", "Keys whose counters the backstop remembers, for when the store is away.")
	inFlight      = desc("in_flight_checks", "Requests that wait for the store.")
	inFlightLimit = desc("in_flight_limit", "Requests that may wait for the store at once; the others are answered by their fail mode.")
	switchForced  = desc("switch_forced", "What the force-open switch lets through past its limits: everything (all), or how many policies.", "scope")
)

var standbyDescs = []*prometheus.Desc{backstopKeys, inFlight, inFlightLimit, switchForced}

func (s sink) standby(b Standby) {
	if b.BackstopKeys != nil {
		s.gauge(backstopKeys, float64(b.BackstopKeys()))
	}
	if b.InFlight != nil {
		now, limit := b.InFlight()
		s.gauge(inFlight, float64(now))
		s.gauge(inFlightLimit, float64(limit))
	}
	if b.Forced != nil {
		all, policies := b.Forced()
		s.gauge(switchForced, float64(all), "all")
		s.gauge(switchForced, float64(policies), "policy")
	}
}
