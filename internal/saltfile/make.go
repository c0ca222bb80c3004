package saltfile

import (
	"crypto/rand"
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// Make makes the salts of a new fleet. Zero spans are the defaults.
func Make(now, overlap, retention weir.Micros) (*pseudonym.Ring, error) {
	c := pseudonym.Config{Overlap: overlap, Retention: retention, Salts: []pseudonym.Salt{fresh(now)}}
	_, _ = rand.Read(c.Slots[:]) // it never fails
	return pseudonym.New(c)
}

// Own makes the salts of a process that has its counters in its own memory. They
// are nobody else's, and end with it.
func Own(now weir.Micros) (*pseudonym.Ring, error) {
	return pseudonym.New(pseudonym.Config{OneSlot: true, Salts: []pseudonym.Salt{fresh(now)}})
}

// Rotate returns r with another salt that comes into force at from, and without
// those that are of no more use at now.
func Rotate(r *pseudonym.Ring, now, from weir.Micros) (*pseudonym.Ring, error) {
	c := r.Config()
	for len(c.Salts) > 1 {
		if until, ok := r.NeededUntil(len(r.Config().Salts) - len(c.Salts)); !ok || now < until {
			break
		}
		c.Salts = c.Salts[1:]
	}
	if lead := 2 * c.Overlap; from < now+lead {
		return nil, &weir.Error{
			Code: weir.CodeInvalid, Field: "in", Message: "every instance must have read the file before the overlap begins",
			Hint: "give it " + spanText(lead) + " or more",
		}
	}
	c.Salts = append(c.Salts, fresh(from))
	next, err := pseudonym.New(c)
	if e, ok := err.(*weir.Error); ok {
		// There is one way to be wrong: too early after the last rotation.
		return nil, &weir.Error{Code: weir.CodeInvalid, Field: "in", Message: "the salt " + e.Message, Hint: e.Hint}
	}
	return next, err
}

// fresh makes a salt. Its id says when it comes into force.
func fresh(from weir.Micros) pseudonym.Salt {
	s := pseudonym.Salt{From: from}
	_, _ = rand.Read(s.Secret[:]) // it never fails
	var id [2]byte
	_, _ = rand.Read(id[:])
	s.ID = fmt.Sprintf("%s-%x", from.Time().UTC().Format("20060102"), id)
	return s
}

// stamp writes an instant for people and for the file.
func stamp(at weir.Micros) string { return at.Time().UTC().Format("2006-01-02T15:04:05.999999Z") }
