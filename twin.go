package weir

import (
	"fmt"
	"strings"
)

// Twinning says how the two names of a counter go together while one takes
// over from the other, at an instant T. Each caller chooses by its own clock;
// with clocks that differ by less than D, nothing is lost or counted twice.
//
//	                 name        Twinning  read                    written
//	before T-D       old         TwinNone  old                     old
//	from T-D         old, new    TwinNext  old, if none then new   old, new forgotten
//	from T           new, old    TwinLast  old, if none then new   new, old
//	from T+D         new, old    TwinOld   new, if none then old   new, old forgotten
//	in the end       new         TwinNone  new                     new
//
// Until T+D the elder name comes first: whoever knows one name only writes it,
// so what it holds is never behind. The younger one is forgotten as long as it
// could fall behind, and the elder one from when it could. From T+D on all write
// the younger one, and it comes first: who has not heard of it by then, as it
// should have, must not put an old count in its place. The end may come when no
// state that was written before T can matter any more: after the longest time
// that units of the limit stay in use.
//
// Forgetting and writing are one step with the decision. A charge that changes
// nothing, such as a denied one, neither writes nor forgets.
type Twinning uint8

// The ways of going together.
const (
	TwinNone Twinning = iota // there is no Twin
	TwinNext                 // Twin is the name to come: written under Key alone
	TwinLast                 // Twin is the name before: written under both
	TwinOld                  // Twin is the name before: written under Key alone

	twinnings
)

var twinningNames = [twinnings]string{"none", "next", "last", "old"}

func (t Twinning) String() string {
	if t >= twinnings {
		return fmt.Sprintf("twinning(%d)", uint8(t))
	}
	return twinningNames[t]
}

// Elder is the name that the counter had first: Key, or Twin if that is the
// name before. Requests are remembered by it, so that one that is sent again
// after T is known again. Across the end it is not: there the elder name is no
// longer known.
func (c *Charge) Elder() string {
	if c.Twinning >= TwinLast {
		return c.Twin
	}
	return c.Key
}

// validateTwin checks the twin of a charge whose key is valid.
func (c *Charge) validateTwin() *Error {
	switch {
	case c.Twinning >= twinnings:
		return invalid("twinning", "no such twinning: %d", uint8(c.Twinning))
	case c.Twinning == TwinNone && c.Twin != "":
		return invalid("twin", "there is one, and twinning is none").withHint("say with twinning which name is to come")
	case c.Twinning == TwinNone:
		return nil
	case c.Twin == "":
		return invalid("twin", "is empty, and twinning is %s", c.Twinning)
	case len(c.Twin) > MaxKeyBytes:
		return invalid("twin", "longer than %d bytes", MaxKeyBytes)
	case c.Twin == c.Key:
		return invalid("twin", "is the key itself")
	case hashTag(c.Twin) != hashTag(c.Key):
		return invalid("twin", "has another hash tag than the key").withHint("change the name outside its braces")
	}
	return nil
}

// sharesName tells whether two charges have a name in common.
func (c *Charge) sharesName(other *Charge) bool {
	return c.Key == other.Key ||
		c.Twinning != TwinNone && (c.Twin == other.Key || c.Twin == other.Twin) ||
		other.Twinning != TwinNone && other.Twin == c.Key
}

// hashTag is the part of a key that decides its slot in a Redis Cluster: what
// is between the first '{' and the next '}', or all of it when there is no
// such pair or nothing between it.
func hashTag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}
