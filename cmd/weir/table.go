package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
)

// Of a long run of requests with the same verdict the table shows the first
// and the last few: a burst of 200 is one screen.
const (
	runHead = 8
	runTail = 2
)

// tablePrinter writes a trial for people.
type tablePrinter struct {
	w       io.Writer
	columns []column

	run     int       // requests in a row with the verdict of the last
	tail    []attempt // the last of them, not written yet
	skipped int

	verdict weir.Verdict
	allowed int
	denied  int
}

// column is one column of the table; a negative width aligns to the left.
type column struct {
	title string
	width int
	value func(*attempt) string
}

func (p *tablePrinter) begin(t *trial, store string) error {
	p.columns = []column{
		{"#", 5, func(a *attempt) string { return strconv.Itoa(a.n) }},
		{"VERDICT", -7, func(a *attempt) string { return a.decision.Verdict.String() }},
		{"REMAINING", 9, func(a *attempt) string { return strconv.FormatInt(a.decision.Remaining, 10) }},
		{"RETRY AFTER", 14, func(a *attempt) string { return spanText(a.decision.RetryAfter) }},
	}
	if slices.ContainsFunc(t.limits, func(l weir.Limit) bool { return l.Algorithm == weir.LeakyBucket }) {
		p.columns = append(p.columns, column{"DELAY", 14, func(a *attempt) string { return spanText(a.decision.Delay) }})
	}
	p.columns = append(p.columns, column{"DECIDED IN", 10, func(a *attempt) string {
		return a.took.Round(100 * time.Nanosecond).String()
	}})
	if len(t.limits) > 1 {
		p.columns = append(p.columns, column{"LIMIT THAT BINDS", -16, func(a *attempt) string {
			return a.decision.Limit.String()
		}})
	}
	if _, err := fmt.Fprintf(p.w, "limit  %s\nkey    %q\nstore  %s\n\n", t.limitTexts(), t.key, store); err != nil {
		return err
	}
	return p.line(func(c column) string { return c.title })
}

func (p *tablePrinter) attempt(a attempt) error {
	if a.decision.Verdict != p.verdict {
		if err := p.flush(); err != nil {
			return err
		}
		p.verdict = a.decision.Verdict
	}
	if a.decision.Allowed() {
		p.allowed++
	} else {
		p.denied++
	}
	p.run++
	if p.run <= runHead {
		return p.row(&a)
	}
	p.tail = append(p.tail, a)
	if len(p.tail) > runTail {
		p.tail = p.tail[1:]
		p.skipped++
	}
	return nil
}

// flush ends a run: it writes what was kept of it.
func (p *tablePrinter) flush() error {
	if p.skipped > 0 {
		if _, err := fmt.Fprintf(p.w, "       ... %d more\n", p.skipped); err != nil {
			return err
		}
	}
	for i := range p.tail {
		if err := p.row(&p.tail[i]); err != nil {
			return err
		}
	}
	p.tail, p.skipped, p.run = nil, 0, 0
	return nil
}

func (p *tablePrinter) waits(d time.Duration, waiting bool) error {
	if err := p.flush(); err != nil {
		return err
	}
	text := "       waits " + d.String() + ", as told\n"
	if !waiting {
		text = "       does not wait " + d.String() + ": longer than --wait\n"
	}
	_, err := io.WriteString(p.w, text)
	return err
}

func (p *tablePrinter) end() error {
	if err := p.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.w, "\n%d allowed, %d denied\n", p.allowed, p.denied)
	return err
}

func (p *tablePrinter) row(a *attempt) error {
	return p.line(func(c column) string { return c.value(a) })
}

func (p *tablePrinter) line(cell func(column) string) error {
	text := ""
	for i, c := range p.columns {
		if i > 0 {
			text += "  "
		}
		if i == len(p.columns)-1 && c.width < 0 {
			c.width = 0 // no blanks at the end of a line
		}
		text += fmt.Sprintf("%*s", c.width, cell(c))
	}
	_, err := io.WriteString(p.w, text+"\n")
	return err
}

// spanText writes a span as people read it.
func spanText(m weir.Micros) string {
	switch m {
	case 0:
		return "-"
	case weir.Never:
		return "never"
	}
	return m.Duration().String()
}
