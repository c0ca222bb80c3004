package sim

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir"
)

// loop is virtual time: what is to happen, in the order of its instants and, of
// one instant, in the order in which it was asked for.
type loop struct {
	now   weir.Micros
	until weir.Micros
	seq   uint64
	heap  []event
	log   log
}

type event struct {
	at  weir.Micros
	seq uint64
	do  func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// at has do called at an instant, or now if that has passed.
func (l *loop) at(t weir.Micros, do func()) {
	l.seq++
	h := append(l.heap, event{at: max(t, l.now), seq: l.seq, do: do})
	for i := len(h) - 1; i > 0 && h[i].before(&h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	l.heap = h
}

// after is at, from now.
func (l *loop) after(d weir.Micros, do func()) { l.at(l.now+d, do) }

// run lets time pass until the end, or until stop says so.
func (l *loop) run(stop func() bool) {
	for len(l.heap) > 0 && l.heap[0].at <= l.until && !stop() {
		e := l.pop()
		l.now = e.at
		e.do()
	}
}

func (l *loop) pop() event {
	h := l.heap
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	l.heap = h
	return top
}

// note is one line of a trace. Most are never read: they are put into words when
// they are.
type note struct {
	at   weir.Micros
	what string // with two places for numbers, or less
	node int    // -1 for none
	key  string
	a, b int64
}

func (n note) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%11.6fs ", float64(n.at)/float64(weir.Second))
	if n.node >= 0 {
		fmt.Fprintf(&b, "node %d: ", n.node)
	}
	switch strings.Count(n.what, "%d") {
	case 0:
		b.WriteString(n.what)
	case 1:
		fmt.Fprintf(&b, n.what, n.a)
	default:
		fmt.Fprintf(&b, n.what, n.a, n.b)
	}
	if n.key != "" {
		b.WriteString(" (" + n.key + ")")
	}
	return b.String()
}

// tail is how many notes a trace has.
const tail = 48

// log keeps the last notes, and a fingerprint of all.
type log struct {
	ring  [tail]note
	count int
	print uint64
}

func (l *log) add(n note) {
	l.ring[l.count%tail] = n
	l.count++
	h := l.print
	for _, v := range [...]uint64{uint64(n.at), uint64(n.node), uint64(n.a), uint64(n.b), uint64(len(n.what)), uint64(len(n.key))} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	l.print = h
}

func (l *log) trace() []string {
	var out []string
	for i := max(0, l.count-tail); i < l.count; i++ {
		out = append(out, l.ring[i%tail].String())
	}
	return out
}
