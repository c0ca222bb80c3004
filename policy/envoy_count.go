package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

func (p *envoyParser) failUnit(w *envoyWindow) {
	unit, names := "", []string{}
	if w.unit.value != nil {
		unit = w.unit.value.Value
	}
	for _, u := range envoyUnits {
		names = append(names, u.name)
	}
	hint := "one of " + strings.Join(names, ", ")
	if near := nearest(unit, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	p.fail(p.at(w.place(w.unit)), "bad-unit", fmt.Sprintf("invalid rate limit unit '%s'", shorten(unit)), hint)
}

// multiply lengthens the window: 30 and second are 30 seconds.
func (p *envoyParser) multiply(w *envoyWindow) bool {
	if w.multiplier.value == nil {
		return true
	}
	n, ok := p.number(w.multiplier)
	if !ok {
		return false
	}
	if n == 0 || w.limit.Window > 0 && n > int64(weir.MaxWindow/w.limit.Window) {
		p.fail(p.at(w.multiplier.value), "bad-multiplier", fmt.Sprintf("invalid unit multiplier of %d", n),
			"a window is from 1 second to 365 days long")
		return false
	}
	w.limit.Window *= weir.Micros(n)
	return true
}

// countOf reads requests_per_unit. Nothing written is 0, and denies everything,
// as in the service.
func (p *envoyParser) countOf(w *envoyWindow) bool {
	l := &w.limit
	if w.count.value != nil {
		n, ok := p.number(w.count)
		if !ok {
			return false
		}
		l.Requests = n
	}
	switch {
	case l.Requests == 0:
		p.warn(p.at(w.place(w.count)), "zero-limit", "requests_per_unit 0 denies every request",
			"leave rate_limit out to let everything pass, or write unlimited: true")
	case l.Requests > weir.MaxCount:
		p.fail(p.at(w.count.value), "limit-too-large",
			fmt.Sprintf("requests_per_unit %d is above %d, the most that is counted", l.Requests, weir.MaxCount), hintOfRate(l))
		return false
	}
	return true
}

// hintOfRate proposes the same rate in a shorter window.
func hintOfRate(l *EnvoyLimit) string {
	for _, u := range slices.Backward(envoyUnits) {
		if u.span >= l.Window || l.Window%u.span != 0 {
			continue
		}
		if n := l.Requests / int64(l.Window/u.span); n > 0 && n <= weir.MaxCount {
			return fmt.Sprintf("the same rate is %d per %s; or write unlimited: true", n, u.name)
		}
	}
	return "write unlimited: true if it is not meant to limit"
}

func (p *envoyParser) algorithmOf(w *envoyWindow) bool {
	if w.algorithm.value == nil {
		return true
	}
	a, err := weir.ParseAlgorithm(strings.ToLower(p.text(w.algorithm)))
	if err != nil {
		p.failLimit(w.algorithm.value, err)
		return false
	}
	if a == weir.Concurrency {
		p.fail(p.at(w.algorithm.value), "bad-algorithm", "concurrency cannot be used in the Envoy format",
			"Envoy does not tell when a request has ended; use a native policy")
		return false
	}
	w.limit.Algorithm = a
	return true
}

// valid asks the limit itself whether it can be counted.
func (p *envoyParser) valid(w *envoyWindow) bool {
	l := w.limit.limit(weir.SlidingWindow)
	if l.Count == 0 {
		l = weir.Limit{Algorithm: weir.FixedWindow, Count: 1, Window: l.Window}
	}
	err := l.Validate()
	if err == nil {
		return true
	}
	at := w.at
	if e, ok := errors.AsType[*weir.Error](err); ok {
		switch e.Field {
		case "count":
			at = w.place(w.count)
		case "burst":
			at = w.place(w.burst)
		}
	}
	p.failLimit(at, err)
	return false
}

func (p *envoyParser) failLimit(at *yaml.Node, err error) {
	problem := Problem{At: p.at(at), Code: "bad-limit", Message: err.Error()}
	if e, ok := errors.AsType[*weir.Error](err); ok {
		problem.Message, problem.Hint = e.Field+": "+e.Message, e.Hint
	}
	p.report(problem)
}

// distinct keeps two limits of a node from having one counter, whichever
// algorithm is the default.
func (p *envoyParser) distinct(d *EnvoyDescriptor, w *envoyWindow) bool {
	for i := range d.Limits {
		other := &d.Limits[i]
		if other.Window != w.limit.Window {
			continue
		}
		for _, byDefault := range []weir.Algorithm{weir.SlidingWindow, weir.FixedWindow} {
			if sameCounter(other.limit(byDefault).Algorithm, w.limit.limit(byDefault).Algorithm) {
				p.fail(w.limit.At, "same-window",
					fmt.Sprintf("two limits of one descriptor count per %s in the same way", weir.WindowText(other.Window)),
					"the other is at "+other.At.String()+"; keep the stricter")
				return false
			}
		}
	}
	return true
}
