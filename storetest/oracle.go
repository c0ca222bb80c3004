package storetest

import (
	"errors"

	"github.com/weirlimit/weir"
)

// errUnspecified marks a step whose answer is the store's to choose.
var errUnspecified = errors.New("stores may differ here: a state that may have been dropped would count again")

// oracle plays a script on a Model to learn the right answers, and refuses
// steps that have none.
type oracle struct {
	*player
	model  *Model
	ledger ledger
	last   [][]weir.Outcome // of the entries of the last step
}

func newOracle(tag string) *oracle {
	m := NewModel()
	return &oracle{
		player: newPlayer(m.Harness(), tag),
		model:  m,
		ledger: ledger{model: m, keys: make(map[string]*tenure)},
	}
}

// play is player.play, one entry at a time: a batch is decided in order, so
// that the answers are those of its entries alone. An errUnspecified leaves the
// entries before it played.
func (o *oracle) play(s *step) ([]string, error) {
	switch s.verb {
	case verbRead:
		m, err := o.meter(s.under)
		if err != nil {
			return nil, err
		}
		if !o.ledger.settled(o.key(s.name), m, o.now) {
			return nil, errUnspecified
		}
	case verbEntry:
		if s.times > 1 {
			return o.repeat(s)
		}
		o.last = o.last[:0]
		var lines []string
		for i := range s.entries {
			answer, err := o.one(&s.entries[i])
			if err != nil {
				return lines, err
			}
			lines = append(lines, answer...)
		}
		return lines, nil
	}
	lines, err := o.player.play(s)
	o.ledger.tick(o.now)
	return lines, err
}

// one decides a single entry.
func (o *oracle) one(spec *entry) ([]string, error) {
	e, err := o.entry(spec)
	if err != nil {
		return nil, err
	}
	if !o.ledger.specified(&e, o.now) {
		return nil, errUnspecified
	}
	b := weir.Batch{Entries: []weir.Entry{e}}
	o.model.Submit(&b, func(*weir.Batch) {})
	e = b.Entries[0]
	o.ledger.note(&e, o.now)
	o.last = append(o.last, e.Outcomes)
	return o.answer(spec, &e), nil
}

// repeat is for vectors: the clock stands still, so that what holds for the
// first time holds for all.
func (o *oracle) repeat(s *step) ([]string, error) {
	for i := range s.entries {
		e, err := o.entry(&s.entries[i])
		if err != nil {
			return nil, err
		}
		if !o.ledger.specified(&e, o.now) {
			return nil, errUnspecified
		}
		defer o.ledger.note(&e, o.now)
	}
	return o.player.play(s)
}
