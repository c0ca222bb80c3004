package storetest

import (
	"fmt"
	"time"

	"github.com/weirlimit/weir"
)

// phase is where a caller is, by its own clock, while a counter changes its
// name; see weir.Twinning.
type phase uint8

const (
	phaseOld  phase = iota // knows the old name only
	phaseNext              // knows the new one too
	phaseLast              // goes by the new one
	phaseLeft              // and leaves the old one behind
	phaseNew               // knows the new name only

	phases
)

// counter is one whose name changes.
type counter struct {
	old, new string
	m        *weir.Meter
}

func (p *probe) counter(name string, m *weir.Meter) counter {
	return counter{old: p.key(name + " old"), new: p.key(name + " new"), m: m}
}

// in is a charge as a caller in a phase sends it.
func (c counter) in(ph phase, cost int64, mode weir.Mode) weir.Charge {
	charge := weir.Charge{Key: c.old, Meter: c.m, Cost: cost, Mode: mode}
	switch ph {
	case phaseNext:
		charge.Twin, charge.Twinning = c.new, weir.TwinNext
	case phaseLast:
		charge.Key, charge.Twin, charge.Twinning = c.new, c.old, weir.TwinLast
	case phaseLeft:
		charge.Key, charge.Twin, charge.Twinning = c.new, c.old, weir.TwinOld
	case phaseNew:
		charge.Key = c.new
	}
	return charge
}

// wantUnder checks what is in use under either name.
func (p *probe) wantUnder(c counter, old, new int64) {
	p.Helper()
	p.wantUsed(c.old, c.m, old)
	p.wantUsed(c.new, c.m, new)
}

// found checks that a charge found so many units in use.
func (p *probe) found(e weir.Entry, want int64) {
	p.Helper()
	if got := e.Outcomes[0].Before.Used; got != want {
		c := e.Charges[0]
		p.Fatalf("twinning %s, %s %d: found %d units in use, want %d", c.Twinning, c.Mode, c.Cost, got, want)
	}
}

// eventuallyFound waits for refunds that are still on their way.
func (p *probe) eventuallyFound(c counter, want int64) {
	p.Helper()
	look := c.in(phaseLeft, 0, weir.Peek)
	for end := time.Now().Add(patience / 10); p.take("", look).Outcomes[0].Before.Used != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.found(p.take("", look), want)
			return
		}
	}
}

func (ph phase) String() string {
	return [...]string{"old", "next", "last", "left", "new", fmt.Sprint(uint8(ph))}[min(ph, phases)]
}
