package main

import "sync/atomic"

// partLoad is what health calls a load that is more than the store can take.
const partLoad = "load"

// loadWatch notes which requests were not let in to wait for the store.
type loadWatch struct {
	shed atomic.Uint64 // since the last look
	over bool          // of the one who looks
}

// look tells whether something has changed since the last look.
func (w *loadWatch) look() (changed bool) {
	over := w.shed.Swap(0) > 0
	changed = over != w.over
	w.over = over
	return changed
}

func (s *server) tellLoad() {
	if !s.watch.load.over {
		s.health.Restore(partLoad)
		s.log.Info("all requests wait for the store again")
		return
	}
	s.health.Degrade(partLoad, "more requests than "+s.where+" answers in time: policies' on_failure answers some")
	s.log.Warn("more requests than the store answers in time: some are answered by their policies' on_failure", "counters", s.where,
		"hint", "see weir_in_flight_limit, weir_store_round_trip_seconds and weir_degraded_total")
}
