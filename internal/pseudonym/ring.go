package pseudonym

import (
	"fmt"
	"io"
	"slices"

	"github.com/weirlimit/weir"
)

// SecretBytes is the length of a salt, that of the digest it is for.
const SecretBytes = 32

// Bounds and defaults.
const (
	MaxSalts = 64
	maxID    = 64 // bytes

	MinOverlap     = weir.Second
	MaxOverlap     = weir.Hour
	DefaultOverlap = weir.Minute

	// Replays is how long a request id is remembered under a counter's name:
	// the least that an old name is looked at.
	Replays          = 10 * weir.Minute
	MinRetention     = Replays
	MaxRetention     = weir.Year
	DefaultRetention = 31 * weir.Day // the longest month

	// lastInstant is where Lua's numbers end: see weir.Micros.
	lastInstant weir.Micros = 1<<53 - 1
)

// Secret is the bytes of a salt. It does not print.
type Secret [SecretBytes]byte

// Format writes a placeholder, whatever the verb: no log shows a secret by
// mistake.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "(secret)") }

// MarshalText does the same for JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }

// Salt is one salt of a ring.
type Salt struct {
	ID     string      // names it in logs and lists
	From   weir.Micros // the instant it comes into force
	Secret Secret
}

// Config is what a Ring is made of.
type Config struct {
	// Salts are one or more, the eldest first. The eldest is also in force
	// before its From.
	Salts []Salt
	// Slots decides the slot of a private partition, and never changes.
	Slots Secret
	// OneSlot is for counters that are in no cluster, such as those in memory:
	// all have the slot 0, which costs nothing to find.
	OneSlot bool
	// Overlap is how far the clocks of two nodes may be apart; 0 is
	// DefaultOverlap.
	Overlap weir.Micros
	// Retention is how long a counter can matter that nobody touches: at least
	// the longest window of a limit by a private value. 0 is DefaultRetention.
	Retention weir.Micros
}

// Ring is a set of salts, checked.
type Ring struct{ config Config }

// Format keeps the secrets out of whatever a ring is printed to.
func (r *Ring) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "ring of %d salts", len(r.config.Salts))
}

// New checks c. The error is a *weir.Error whose Field is a path such as
// salts[1].from.
func New(c Config) (*Ring, error) {
	c.Salts = slices.Clone(c.Salts)
	if c.Overlap == 0 {
		c.Overlap = DefaultOverlap
	}
	if c.Retention == 0 {
		c.Retention = DefaultRetention
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Ring{config: c}, nil
}

func (c *Config) check() error {
	switch {
	case c.Overlap < MinOverlap || c.Overlap > MaxOverlap:
		return invalid("overlap", "1m is far more than clocks that are kept in step differ by",
			"%s is outside 1s to 1h", weir.WindowText(c.Overlap))
	case c.Retention < MinRetention || c.Retention > MaxRetention:
		return invalid("retention", "give the longest window of a limit by a private value",
			"%s is outside 10m to 365d", weir.WindowText(c.Retention))
	case len(c.Salts) == 0:
		return invalid("salts", "weir salt new makes a file with one", "there is none")
	case len(c.Salts) > MaxSalts:
		return invalid("salts", "weir salt rotate removes those that are no longer needed", "%d are more than %d", len(c.Salts), MaxSalts)
	}
	for i := range c.Salts {
		if err := c.checkSalt(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkSalt(i int) error {
	s := &c.Salts[i]
	at := fmt.Sprintf("salts[%d].", i)
	switch {
	case !isID(s.ID):
		return invalid(at+"id", "use letters, digits and . _ -", "is not 1 to %d such characters", maxID)
	case s.From < 0 || s.From > lastInstant:
		return invalid(at+"from", "", "is out of range")
	}
	for j := range i {
		switch {
		case c.Salts[j].ID == s.ID:
			return invalid(at+"id", "give each salt an id of its own", "%s is also that of salts[%d]", s.ID, j)
		case c.Salts[j].Secret == s.Secret:
			return invalid(at+"salt", "weir salt rotate makes a new one", "is that of salts[%d]: nothing would rotate", j)
		}
	}
	if i == 0 {
		return nil
	}
	if least := c.Salts[i-1].From + c.apart(i); s.From < least {
		return invalid(at+"from",
			"let it be "+least.Time().UTC().Format("2006-01-02T15:04:05Z")+" or later, or lower retention if no private limit has so long a window",
			"comes before the rotation before it is over")
	}
	return nil
}

// apart is the least distance of salt i from the one before: its own overlap,
// and the whole of the rotation before it. A third salt meanwhile would leave
// the counters that nobody has touched under names that nobody looks for. The
// eldest salt followed none.
func (c *Config) apart(i int) weir.Micros {
	if i == 1 {
		return 2 * c.Overlap
	}
	return c.Overlap + c.takes()
}

// takes is how long after its instant a rotation is over: see Phase.
func (c *Config) takes() weir.Micros { return 2*c.Overlap + c.Retention }

func isID(text string) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return text != "" && len(text) <= maxID
}

// Config returns what the ring was made of, with defaults filled in.
func (r *Ring) Config() Config {
	c := r.config
	c.Salts = slices.Clone(c.Salts)
	return c
}

// Overlap is how far the clocks of two nodes may be apart.
func (r *Ring) Overlap() weir.Micros { return r.config.Overlap }

// Retention is how long a counter can matter that nobody touches.
func (r *Ring) Retention() weir.Micros { return r.config.Retention }

func invalid(field, hint, format string, args ...any) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}
