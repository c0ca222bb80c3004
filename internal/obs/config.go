package obs

import "time"

// config is what is known of the configuration. Guarded by Metrics.mu.
type config struct {
	version string
	serial  uint32
	rules   int
	unnamed int // rules that are counted as other

	reloads  [2]uint64 // failed, successful
	last     Reload
	lastAt   time.Time // zero: never
	lastGood time.Time

	certificates map[string]time.Time // their ends, by listener
	followed     map[string]bool      // whether they are as written, by what they are
}

// Reload is how a load of the configuration went.
type Reload struct {
	OK         bool // all that is written is in service
	Problems   int  // also warnings
	StaleFiles int  // of which an older version serves, or none
	Took       time.Duration
}

// Reloaded says that a load ended, whether or not it brought a new set.
func (m *Metrics) Reloaded(r Reload) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.config
	c.last, c.lastAt = r, m.now()
	result := 0
	if r.OK {
		result = 1
		c.lastGood = c.lastAt
	}
	c.reloads[result]++
}

// CertificateEnds says when the certificate of a listener ends. Listeners are
// few.
func (m *Metrics) CertificateEnds(listener string, end time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config.certificates == nil {
		m.config.certificates = make(map[string]time.Time)
	}
	m.config.certificates[listener] = end
}

// Followed says whether what is made of files, such as certificates or salts, is
// as they are written now. There are few such things.
func (m *Metrics) Followed(what string, current bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config.followed == nil {
		m.config.followed = make(map[string]bool)
	}
	m.config.followed[what] = current
}
