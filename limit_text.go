package weir

import (
	"strconv"
	"strings"
)

// unitNames lists what a window may be written in, longest first so that
// String picks the coarsest unit that divides it.
var unitNames = []struct {
	short, long string
	span        Micros
}{
	{"d", "day", Day},
	{"h", "hour", Hour},
	{"m", "minute", Minute},
	{"s", "second", Second},
}

// ParseLimit reads a limit as people write it:
//
//	100/s burst 200             gcra
//	3000/m                      sliding_window
//	100/30s                     sliding_window, 30 second window
//	5/m fixed_window            an algorithm by name
//	20 concurrency 30s          at most 20 at a time, abandoned after 30 s
//
// Units are s, m, h, d or second, minute, hour, day, with an optional number
// before them. The result is valid.
func ParseLimit(text string) (Limit, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Limit{}, invalid("limit", "is empty").withHint("for example 100/s burst 200")
	}
	var l Limit
	var err error
	if len(words) > 1 && words[1] == Concurrency.String() {
		l, err = parseConcurrency(words)
	} else {
		l, err = parseRate(words)
	}
	if err != nil {
		return Limit{}, err
	}
	if err := l.Validate(); err != nil {
		return Limit{}, err
	}
	return l, nil
}

func parseConcurrency(words []string) (Limit, error) {
	if len(words) != 3 {
		return Limit{}, invalid("limit", "want COUNT concurrency TIMEOUT").withHint("for example 20 concurrency 30s")
	}
	count, err := parseCount("count", words[0])
	if err != nil {
		return Limit{}, err
	}
	window, err := ParseWindow(words[2])
	return Limit{Algorithm: Concurrency, Count: count, Window: window}, err
}

func parseRate(words []string) (Limit, error) {
	countText, windowText, ok := strings.Cut(words[0], "/")
	if !ok {
		return Limit{}, invalid("limit", "%q has no window", words[0]).withHint("write COUNT/WINDOW, for example 100/s")
	}
	count, err := parseCount("count", countText)
	if err != nil {
		return Limit{}, err
	}
	window, err := ParseWindow(windowText)
	if err != nil {
		return Limit{}, err
	}
	l := Limit{Count: count, Window: window}
	for rest := words[1:]; len(rest) > 0; {
		if rest[0] == "burst" {
			if len(rest) < 2 || l.Burst != 0 {
				return Limit{}, invalid("burst", "want one number after burst")
			}
			if l.Burst, err = parseCount("burst", rest[1]); err != nil {
				return Limit{}, err
			}
			rest = rest[2:]
			continue
		}
		if l.Algorithm != 0 {
			return Limit{}, invalid("limit", "unexpected %q", rest[0])
		}
		if l.Algorithm, err = ParseAlgorithm(rest[0]); err != nil {
			return Limit{}, err
		}
		rest = rest[1:]
	}
	if l.Algorithm == 0 {
		l.Algorithm = SlidingWindow
		if l.Burst != 0 {
			l.Algorithm = GCRA
		}
	}
	return l, nil
}

func parseCount(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, invalid(field, "%q is not a whole number from 1", text)
	}
	return n, nil
}

// ParseWindow reads a window such as s, 30s, 5m, hour or 7day.
func ParseWindow(text string) (Micros, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(digits):]
	n := int64(1)
	if digits != "" {
		var err error
		if n, err = parseCount("window", digits); err != nil {
			return 0, err
		}
	}
	for _, u := range unitNames {
		if unit != u.short && unit != u.long {
			continue
		}
		if n > int64(MaxWindow/u.span) {
			return 0, invalid("window", "%q is longer than a year", text)
		}
		return Micros(n) * u.span, nil
	}
	return 0, invalid("window", "unknown unit %q in %q", unit, text).withHint("use s, m, h or d, for example 30s")
}

// WindowText writes a window the way ParseWindow reads it, without a number
// where it is one: s, 30s, 5m, h.
func WindowText(w Micros) string { return string(appendWindow(nil, w)) }

func appendWindow(b []byte, w Micros) []byte {
	for _, u := range unitNames {
		if w%u.span == 0 && w > 0 {
			if w != u.span {
				b = strconv.AppendInt(b, int64(w/u.span), 10)
			}
			return append(b, u.short...)
		}
	}
	return append(strconv.AppendInt(b, int64(w), 10), "us"...)
}

// String writes the limit the way ParseLimit reads it.
func (l Limit) String() string {
	var room [64]byte
	return string(l.AppendTo(room[:0]))
}

// AppendTo appends what String returns.
func (l Limit) AppendTo(b []byte) []byte {
	b = strconv.AppendInt(b, l.Count, 10)
	if l.Algorithm == Concurrency {
		return appendWindow(append(b, " concurrency "...), l.Window)
	}
	b = appendWindow(append(b, '/'), l.Window)
	if l.Burst != 0 {
		b = strconv.AppendInt(append(b, " burst "...), l.Burst, 10)
	}
	if l.Algorithm == SlidingWindow || l.Algorithm == GCRA && l.Burst != 0 {
		return b
	}
	return append(append(b, ' '), l.Algorithm.String()...)
}
