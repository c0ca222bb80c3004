package policy

import (
	"errors"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

// unlimitedWord is written in place of limits.
const unlimitedWord = "unlimited"

// limits reads a limit, a list of them, or the word unlimited.
func (r *nativeReader) limits(n *yaml.Node, what string) (out []WrittenLimit, unlimited bool) {
	if v := r.enter(n); v.Kind == yaml.ScalarNode && v.Value == unlimitedWord {
		return nil, true
	}
	r.items(n, what, maxLimits, func(v *yaml.Node) {
		if l, ok := r.limit(v, what); ok {
			out = append(out, WrittenLimit{Limit: l, At: r.at(v)})
		}
	})
	return out, false
}

// limit reads 100/s burst 200, or the same as a mapping.
func (r *nativeReader) limit(n *yaml.Node, what string) (weir.Limit, bool) {
	v := r.enter(n)
	if v.Kind == yaml.MappingNode {
		var l weir.Limit
		before := len(r.problems)
		if !readFields(r, v, "a limit", limitFields, &l) || len(r.problems) > before {
			return weir.Limit{}, false
		}
		if l.Algorithm == 0 {
			l.Algorithm = weir.SlidingWindow
			if l.Burst != 0 {
				l.Algorithm = weir.GCRA
			}
		}
		return l, r.valid(v, l.String(), l.Validate())
	}
	text, ok := r.text(v, what)
	if !ok {
		return weir.Limit{}, false
	}
	l, err := weir.ParseLimit(text)
	return l, r.valid(v, text, err)
}

// valid reports what a limit has wrong.
func (r *nativeReader) valid(n *yaml.Node, text string, err error) bool {
	if err == nil {
		return true
	}
	message, hint := err.Error(), ""
	if e, ok := errors.AsType[*weir.Error](err); ok {
		message, hint = e.Field+": "+e.Message, e.Hint
	}
	if strings.Contains(text, ",") {
		hint = "put several limits into a list: [100/s burst 200, 3000/m]"
	}
	r.problem(n, "bad-limit", hint, "limit %s: %s", quoted(text), strings.TrimPrefix(message, "limit: "))
	return false
}

// limitFields are the keys of a limit written as a mapping.
var limitFields = []nativeField[weir.Limit]{
	{
		key: "count", doc: "Units in a window.", must: true,
		shape: func() shape { return countShape(weir.MaxCount) },
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			l.Count, _ = r.number(n, "count", math.MinInt64, math.MaxInt64)
		},
	},
	{
		key: "window", doc: "How long: s, 30s, 5m, h, d.", must: true,
		shape: windowShape,
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			l.Window = r.window(n, "window")
		},
	},
	{
		key: "burst", doc: "How many units may come at once; with it the limit is a bucket (gcra).",
		shape: func() shape { return countShape(weir.MaxCount) },
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			l.Burst, _ = r.number(n, "burst", 1, weir.MaxCount)
		},
	},
	{
		key: "algorithm", doc: "Default: gcra with a burst, else sliding_window.",
		shape: func() shape { return enumShape(algorithmWords()) },
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			if i, ok := r.word(n, "algorithm", algorithmWords()); ok {
				l.Algorithm = weir.GCRA + weir.Algorithm(i)
			}
		},
	},
}

func algorithmWords() []string {
	var words []string
	for a := weir.GCRA; a <= weir.Concurrency; a++ {
		words = append(words, a.String())
	}
	return words
}

func (r *nativeReader) window(n *yaml.Node, what string) weir.Micros {
	text, ok := r.text(n, what)
	if !ok {
		return 0
	}
	w, err := weir.ParseWindow(text)
	if e, bad := errors.AsType[*weir.Error](err); bad {
		r.problem(n, "bad-duration", e.Hint, "%s: %s", what, e.Message)
		return 0
	}
	return w
}

// defaultTimeout is how long a request in progress counts when nobody says
// that it is done: longer than nearly every request takes, and short enough to
// get over a crash.
const defaultTimeout = weir.Minute

// concurrencyFields are the keys of concurrency written as a mapping.
var concurrencyFields = []nativeField[weir.Limit]{
	{
		key: "max", doc: "Requests in progress.", must: true,
		shape: func() shape { return countShape(weir.MaxLogCount) },
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			l.Count, _ = r.number(n, "max", 1, weir.MaxLogCount)
		},
	},
	{
		key: "timeout", doc: "After how long a request that was not released counts no more. Default: 1m.",
		shape: windowShape,
		read: func(r *nativeReader, n *yaml.Node, l *weir.Limit) {
			l.Window = r.window(n, "timeout")
		},
	},
}

func readConcurrency(r *nativeReader, n *yaml.Node, d *policyDraft) {
	v, before := r.enter(n), len(r.problems)
	l := weir.Limit{Algorithm: weir.Concurrency, Window: defaultTimeout}
	if v.Kind == yaml.MappingNode {
		readFields(r, v, "concurrency", concurrencyFields, &l)
	} else {
		l.Count, _ = r.number(v, "concurrency", 1, weir.MaxLogCount)
	}
	if len(r.problems) == before && r.valid(v, l.String(), l.Validate()) {
		d.Concurrency = []WrittenLimit{{Limit: l, At: r.at(v)}}
	}
}
