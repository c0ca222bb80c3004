package storetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
)

// A script is a list of steps, as vectors write them and as random histories
// are printed:
//
//	limit day = 100/d fixed_window      name a limit, or change it
//	at 1h30m                            set the clock, counted from Base
//	forward 5s                          and from where it is
//	back 1us
//	entry a day 1                       charge key a 1 unit under that limit
//	entry a day 5 up_to                 in another mode
//	entry a day 1 + b hour 1 id=r1      an entry of two charges, with a request id
//	entry a x 1 group=1 + b y 1 group=1 in a quota group
//	entry a day 1 next=b                charge a, which will be named b
//	entry b day 1 last=a                and b, which was named a: or old=a
//	entry a day 1 ; b day 1 ; a day 2   three entries in one batch
//	times 50 entry a day 1              50 batches, of which the last is shown
//	read a day
//	reset a
//
// A key is a name. Keys live in one hash tag, or in the one named after an @:
// a@2 and b@2 are neighbours, a and a@2 need not be.
type verb uint8

const (
	verbLimit verb = iota
	verbAt
	verbForward
	verbBack
	verbEntry
	verbRead
	verbReset

	verbs
)

var verbNames = [verbs]string{"limit", "at", "forward", "back", "entry", "read", "reset"}

type step struct {
	verb    verb
	name    string      // of a limit, or the key to read or reset
	limit   weir.Limit  // verbLimit
	under   string      // verbRead: the limit's name
	span    weir.Micros // verbAt, verbForward, verbBack
	times   int         // verbEntry: 1 or more
	entries []entry     // verbEntry
}

type entry struct {
	charges []charge
	id      string
}

type charge struct {
	key, limit string
	cost       int64
	mode       weir.Mode
	group      uint8
	twin       string
	twinning   weir.Twinning
}

func (s *step) String() string {
	name := verbNames[s.verb]
	switch s.verb {
	case verbLimit:
		return fmt.Sprintf("%s %s = %s", name, s.name, s.limit)
	case verbAt, verbForward, verbBack:
		return name + " " + spanText(s.span)
	case verbRead:
		return fmt.Sprintf("%s %s %s", name, s.name, s.under)
	case verbReset:
		return name + " " + s.name
	}
	texts := make([]string, len(s.entries))
	for i := range s.entries {
		texts[i] = s.entries[i].String()
	}
	name += " " + strings.Join(texts, " ; ")
	if s.times > 1 {
		name = fmt.Sprintf("times %d %s", s.times, name)
	}
	return name
}

func (e *entry) String() string {
	texts := make([]string, len(e.charges))
	for i, c := range e.charges {
		texts[i] = fmt.Sprintf("%s %s %d", c.key, c.limit, c.cost)
		if c.mode != weir.Enforce {
			texts[i] += " " + c.mode.String()
		}
		if c.group != 0 {
			texts[i] += fmt.Sprintf(" group=%d", c.group)
		}
		if c.twinning != weir.TwinNone {
			texts[i] += fmt.Sprintf(" %s=%s", c.twinning, c.twin)
		}
	}
	s := strings.Join(texts, " + ")
	if e.id != "" {
		s += " id=" + e.id
	}
	return s
}

// spanText writes a span in seconds, to the microsecond: 0.333334s, -1s.
func spanText(m weir.Micros) string {
	if m == weir.Never {
		return "never"
	}
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	s := strconv.FormatInt(int64(m/weir.Second), 10)
	if part := m % weir.Second; part != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", int64(part)), "0")
	}
	return sign + s + "s"
}

// outcomeText writes an outcome, leaving out what says nothing: what a charge
// found (was=units@since, since counted from Base), and what became of it.
func outcomeText(o *weir.Outcome) string {
	var b strings.Builder
	if o.OK {
		b.WriteString("ok")
	} else {
		b.WriteString("no")
	}
	fmt.Fprintf(&b, " granted=%d left=%d reset=%s", o.Granted, o.Remaining, spanText(o.ResetAfter))
	if o.RetryAfter != 0 {
		b.WriteString(" retry=" + spanText(o.RetryAfter))
	}
	if o.Delay != 0 {
		b.WriteString(" delay=" + spanText(o.Delay))
	}
	b.WriteString(usageText(o.Before))
	return b.String()
}

func usageText(u weir.Usage) string {
	if u == (weir.Usage{}) {
		return " was=0"
	}
	since := spanText(u.Since - Base)
	if u.Since >= Base {
		since = "+" + since
	}
	return fmt.Sprintf(" was=%d@%s", u.Used, since)
}
