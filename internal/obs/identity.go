package obs

import "github.com/weirlimit/weir/identity"

// Rejected counts a claim to an identity that was not believed.
func (m *Metrics) Rejected(what identity.What, why identity.Reason) {
	if what < identity.Whats && why < identity.Reasons {
		m.rejected[what][why].Add(1)
	}
}

// rejections writes those that there were: most of the pairs cannot be.
func (s sink) rejections(m *Metrics) {
	for what := range m.rejected {
		for why := range m.rejected[what] {
			if n := m.rejected[what][why].Load(); n > 0 {
				s.counter(rejectionsTotal, n, identity.What(what).String(), identity.Reason(why).String())
			}
		}
	}
}
