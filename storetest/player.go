package storetest

import (
	"fmt"

	"github.com/weirlimit/weir"
)

// player plays a script on one store and says what the store answered.
type player struct {
	store    patient
	setClock func(weir.Micros)
	tag      string // makes the script's keys its own; see probe
	now      weir.Micros
	meters   map[string]*weir.Meter
}

func newPlayer(h Harness, tag string) *player {
	p := &player{store: patient{h.Store}, setClock: h.SetClock, tag: tag, meters: make(map[string]*weir.Meter)}
	p.set(Base)
	return p
}

func (p *player) set(now weir.Micros) {
	p.now = now
	if p.setClock != nil {
		p.setClock(now)
	}
}

// play does one step and returns the store's answer, a line per entry or
// charge. It fails only on a script that names a limit it has not defined.
func (p *player) play(s *step) ([]string, error) {
	switch s.verb {
	case verbLimit:
		m, err := weir.NewMeter(s.limit)
		p.meters[s.name] = m
		return nil, err
	case verbAt:
		p.set(Base + s.span)
	case verbForward:
		p.set(p.now + s.span)
	case verbBack:
		p.set(p.now - s.span)
	case verbRead:
		return p.read(s)
	case verbReset:
		if err := p.store.reset(p.key(s.name)); err != nil {
			return []string{errorText(err)}, nil
		}
	case verbEntry:
		return p.submit(s)
	}
	return nil, nil
}

func (p *player) read(s *step) ([]string, error) {
	m, err := p.meter(s.under)
	if err != nil {
		return nil, err
	}
	o, err := p.store.read(p.key(s.name), m)
	if err != nil {
		return []string{errorText(err)}, nil
	}
	// Of an answer to no charge, only what is in use means anything.
	return []string{fmt.Sprintf("left=%d reset=%s%s", o.Remaining, spanText(o.ResetAfter), usageText(o.Before))}, nil
}

func (p *player) submit(s *step) ([]string, error) {
	b := &weir.Batch{}
	admitted := 0
	for range s.times {
		b.Entries = b.Entries[:0]
		for i := range s.entries {
			e, err := p.entry(&s.entries[i])
			if err != nil {
				return nil, err
			}
			b.Entries = append(b.Entries, e)
		}
		p.store.decide(b)
		for i := range b.Entries {
			if b.Entries[i].Err == nil && b.Entries[i].Admitted {
				admitted++
			}
		}
	}
	var lines []string
	if s.times > 1 {
		lines = append(lines, fmt.Sprintf("admitted %d of %d, at last:", admitted, s.times*len(s.entries)))
	}
	for i := range b.Entries {
		lines = append(lines, p.answer(&s.entries[i], &b.Entries[i])...)
	}
	return lines, nil
}

// answer describes a decided entry: one line when it has one charge, else the
// verdict and a line per charge.
func (p *player) answer(spec *entry, e *weir.Entry) []string {
	if e.Err != nil {
		return []string{errorText(e.Err)}
	}
	verdict := "deny"
	if e.Admitted {
		verdict = "admit"
	}
	switch {
	case e.Replayed:
		verdict += " replayed"
	case e.Now != p.now:
		verdict += " now=" + spanText(e.Now-Base)
	}
	if len(e.Outcomes) != len(spec.charges) {
		return []string{fmt.Sprintf("%s with %d outcomes", verdict, len(e.Outcomes))}
	}
	lines := []string{verdict}
	for i := range e.Outcomes {
		lines = append(lines, "  "+spec.charges[i].key+" "+outcomeText(&e.Outcomes[i]))
	}
	if len(e.Outcomes) == 1 {
		return []string{verdict + lines[1][1:]}
	}
	return lines
}

func errorText(err error) string { return "error " + weir.CodeOf(err).String() }

func (p *player) entry(spec *entry) (weir.Entry, error) {
	e := weir.Entry{ID: spec.id, Charges: make([]weir.Charge, len(spec.charges))}
	for i, c := range spec.charges {
		m, err := p.meter(c.limit)
		if err != nil {
			return e, err
		}
		e.Charges[i] = weir.Charge{Key: p.key(c.key), Meter: m, Cost: c.cost, Mode: c.mode, Group: c.group, Twinning: c.twinning}
		if c.twinning != weir.TwinNone {
			e.Charges[i].Twin = p.key(c.twin)
		}
	}
	return e, nil
}

func (p *player) meter(name string) (*weir.Meter, error) {
	if m := p.meters[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("no limit is named %q", name)
}

func (p *player) key(name string) string { return taggedKey(p.tag, name) }
