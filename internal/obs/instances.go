package obs

import "time"

// instances is what is known of the others. Guarded by Metrics.mu.
type instances struct {
	count         int // 0 until it is known
	measured      bool
	offset, doubt time.Duration
}

// Instances says how many share the counters, this one included.
func (m *Metrics) Instances(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instances.count = n
}

// ClockOffset says by how much the store's clock is ahead of this machine's, and
// by how much that may be wrong.
func (m *Metrics) ClockOffset(offset, doubt time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instances.measured, m.instances.offset, m.instances.doubt = true, offset, doubt
}

// instances writes what is known: a clock that was never compared is not one
// that agrees.
func (s sink) instances(i *instances) {
	if i.count > 0 {
		s.gauge(instancesLive, float64(i.count))
	}
	if i.measured {
		s.gauge(clockOffset, i.offset.Seconds())
		s.gauge(clockError, i.doubt.Seconds())
	}
}
