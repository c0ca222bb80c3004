package line_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/line"
)

// script runs steps against a line and writes what happened: "+w" is an arrival
// of a write, "-" a departure, "~t2" the second test giving up, a number a time.
func script(t *testing.T, o line.Options, steps string) string {
	t.Helper()
	var out []string
	names := map[*line.Waiter]string{}
	o.Settled = func(w *line.Waiter) { out = append(out, names[w]+" "+w.Answer.String()) }
	l := line.New(o)
	count, waiters, now := map[string]int{}, map[string]*line.Waiter{}, weir.Micros(0)
	for _, s := range strings.Fields(steps) {
		switch s[0] {
		case '+':
			name := s[1:]
			count[name]++
			name += fmt.Sprint(count[name])
			answer, w := l.Arrive(now, strings.Index("trwc", s[1:]))
			out = append(out, name+" "+answer.String())
			if w != nil {
				names[w], waiters[name] = name, w
			}
		case '-':
			l.Leave(now)
		case '~':
			out = append(out, fmt.Sprintf("%s gave up %v", s[1:], l.GiveUp(now, waiters[s[1:]])))
		default:
			var n int64
			if _, err := fmt.Sscan(s, &n); err != nil {
				t.Fatal(err)
			}
			now = weir.Micros(n) * ms
		}
	}
	return strings.Join(out, "; ")
}

func TestLine(t *testing.T) {
	o := line.Options{Places: 1, Waiting: 4, Target: 20 * ms, Interval: 100 * ms, Recovery: 1000 * ms}
	none := o
	none.Waiting = 0
	for _, tt := range []struct {
		name  string
		o     line.Options
		steps string
		want  string
	}{
		{"places, then the line, the highest first", o, "+r +t +r +w +c - - - - -", "r1 inside; t1 waits; r2 waits; w1 waits; c1 waits; " +
			"c1 inside; w1 inside; r2 inside; t1 inside"},
		{"of one class the oldest first", o, "+w +w +w - -", "w1 inside; w2 waits; w3 waits; w2 inside; w3 inside"},
		{"it fills from below", o, "+c +t +t +r +r +w +w +c +c", "c1 inside; t1 waits; t2 shed by a full line; " +
			"r1 waits; t1 shed by a full line; r2 waits; " +
			"w1 waits; r2 shed by a full line; w2 waits; " +
			"c2 waits; r1 shed by a full line; c3 waits"},
		{"a full line of the highest", o, "+c +c +c +c +c +c +w", "c1 inside; c2 waits; c3 waits; c4 waits; c5 waits; " +
			"c6 shed by a full line; w1 shed by a full line"},
		{"no line", none, "+c +c - +t", "c1 inside; c2 shed by a full line; t1 inside"},
		{"a line that stands", o, "+w +t 10 +w 21 +w 121 +t +w 221 +r +c", "w1 inside; t1 waits; w2 waits; w3 waits; " +
			"t1 shed by level; t2 shed by level; w4 waits; " +
			"r1 shed by level; c1 waits"},
		{"the highest are below no level", o, "+c +c 21 +c 121 +c 500 +c 900 +w +c", "c1 inside; c2 waits; c3 waits; c4 waits; c5 waits; " +
			"w1 shed by level; c6 shed by a full line"},
		{"who gives up is not asked again", o, "+w +w +w ~w2 - ~w3", "w1 inside; w2 waits; w3 waits; w2 gave up true; w3 inside; w3 gave up false"},
		{"a place that nobody wants is free", o, "+w - +t", "w1 inside; t1 inside"},
		{"recovered", o, "+c +c 21 +c 121 +c 122 - - - +t 1121 +t 1122 - +t", "c1 inside; c2 waits; c3 waits; c4 waits; " +
			"c2 inside; c3 inside; c4 inside; t1 shed by level; t2 shed by level; t3 inside"},
	} {
		if got := script(t, tt.o, tt.steps); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestAnswersHaveNames(t *testing.T) {
	var names []string
	for a := line.Waits; a <= line.Gone+1; a++ {
		if slices.Contains(names, a.String()) {
			t.Errorf("%d is %s, too", a, a)
		}
		names = append(names, a.String())
	}
}
