package storetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimit/weir"
)

// parseStep reads one line of a script.
func parseStep(line string) (step, error) {
	word, rest, _ := strings.Cut(line, " ")
	if word == "times" {
		return parseTimes(rest)
	}
	i := slices.Index(verbNames[:], word)
	if i < 0 {
		return step{}, fmt.Errorf("no such step: %q", word)
	}
	s := step{verb: verb(i)}
	var err error
	words := strings.Fields(rest)
	switch s.verb {
	case verbLimit:
		name, text, ok := strings.Cut(rest, " = ")
		if !ok {
			return s, fmt.Errorf("want limit NAME = LIMIT")
		}
		s.name = strings.TrimSpace(name)
		s.limit, err = weir.ParseLimit(text)
	case verbAt, verbForward, verbBack:
		s.span, err = parseSpan(strings.TrimSpace(rest))
	case verbRead:
		if len(words) != 2 {
			return s, fmt.Errorf("want read KEY LIMIT")
		}
		s.name, s.under = words[0], words[1]
	case verbReset:
		if len(words) != 1 {
			return s, fmt.Errorf("want reset KEY")
		}
		s.name = words[0]
	case verbEntry:
		s.times = 1
		s.entries, err = parseEntries(rest)
	}
	return s, err
}

func parseTimes(text string) (step, error) {
	count, rest, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return step{}, fmt.Errorf("times %q: want a number from 1", count)
	}
	s, err := parseStep(rest)
	if err == nil && s.verb != verbEntry {
		err = fmt.Errorf("only an entry can be repeated")
	}
	s.times = n
	return s, err
}

func parseEntries(text string) ([]entry, error) {
	var entries []entry
	for part := range strings.SplitSeq(text, ";") {
		e, err := parseEntry(part)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(text string) (entry, error) {
	var e entry
	for part := range strings.SplitSeq(text, "+") {
		words := strings.Fields(part)
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "id=") {
			e.id = words[n-1][len("id="):]
			words = words[:n-1]
		}
		c, err := parseCharge(words)
		if err != nil {
			return e, err
		}
		e.charges = append(e.charges, c)
	}
	return e, nil
}

func parseCharge(words []string) (charge, error) {
	if len(words) < 3 {
		return charge{}, fmt.Errorf("want KEY LIMIT COST [MODE] [group=N] [next|last|old=KEY], not %q", words)
	}
	c := charge{key: words[0], limit: words[1]}
	var err error
	if c.cost, err = strconv.ParseInt(words[2], 10, 64); err != nil {
		return c, fmt.Errorf("cost %q: %w", words[2], err)
	}
	for _, w := range words[3:] {
		if n, ok := strings.CutPrefix(w, "group="); ok {
			g, err := strconv.ParseUint(n, 10, 8)
			if err != nil {
				return c, fmt.Errorf("%s: %w", w, err)
			}
			c.group = uint8(g)
			continue
		}
		if how, twin, ok := strings.Cut(w, "="); ok {
			if c.twin = twin; twin == "" {
				return c, fmt.Errorf("%s: want a key", w)
			}
			if c.twinning, err = parseTwinning(how); err != nil {
				return c, err
			}
			continue
		}
		if c.mode, err = parseMode(w); err != nil {
			return c, err
		}
	}
	return c, nil
}

func parseMode(name string) (weir.Mode, error) {
	for m := weir.Enforce; m <= weir.UpTo; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("no such mode: %q", name)
}

func parseTwinning(name string) (weir.Twinning, error) {
	for t := weir.TwinNext; t <= weir.TwinOld; t++ {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("no such twinning: %q", name)
}

// parseSpan reads a duration that may start with days: 364d23h59m59.999999s.
func parseSpan(text string) (weir.Micros, error) {
	days := weir.Micros(0)
	if head, tail, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseInt(head, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("span %q: %w", text, err)
		}
		days, text = weir.Micros(n)*weir.Day, tail
		if text == "" {
			return days, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, err
	}
	return days + weir.MicrosOf(d), nil
}
