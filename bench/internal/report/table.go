package report

import (
	"strings"
	"unicode/utf8"
)

// Table is cells of text.
type Table struct {
	Head []string
	Rows [][]string // each as long as Head
	Text int        // leading columns that are text, not figures; 0 means 1
}

// Markdown returns the table with its columns lined up, figures to the right.
func (t Table) Markdown() string {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), len("--:"))
		}
	}
	text := max(1, t.Text)
	var b strings.Builder
	line := func(row []string) {
		for i, cell := range row {
			gap := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i < text {
				cell += gap
			} else {
				cell = gap + cell
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	rule := make([]string, len(width))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
		if i >= text {
			rule[i] = rule[i][1:] + ":"
		}
	}
	line(rule)
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}
