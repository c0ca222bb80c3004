package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// String writes the position the way editors and compilers do, and leaves out
// what is not known: file:line:column.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// compare orders positions as a reader meets them.
func (p Position) compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// String writes the problem on one line: file:line:column: message (hint).
func (p Problem) String() string {
	s := p.Message
	if at := p.At.String(); at != "" {
		s = at + ": " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Error makes a Problem an error for those who want only one.
func (p Problem) Error() string { return p.String() }

// SortProblems orders problems by file and position; of one position, errors
// come first.
func SortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(a.At.compare(b.At), compareBool(a.Warning, b.Warning), strings.Compare(a.Message, b.Message))
	})
}

// HasErrors tells whether any of ps is more than a warning.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
