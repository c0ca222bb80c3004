package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/weirlimit/weir/policy"
)

// findings is what there is to say about some files.
type findings struct {
	files            int
	errors, warnings int
	problems         []policy.Problem
	seen             map[policy.Problem]bool
}

func (f *findings) add(problems []policy.Problem) {
	if f.seen == nil {
		f.seen = map[policy.Problem]bool{}
	}
	for _, p := range problems {
		if p.Code == "no-files" {
			p.Warning = false // to have looked at nothing must not pass for a clean bill
		}
		if f.seen[p] {
			continue
		}
		f.seen[p] = true
		f.problems = append(f.problems, p)
		if p.Warning {
			f.warnings++
		} else {
			f.errors++
		}
	}
}

func (f *findings) text(w io.Writer) error {
	for _, p := range f.problems {
		if p.Warning {
			p.Message = "warning: " + p.Message
		}
		if _, err := fmt.Fprintln(w, oneLine(p.String())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", counted(f.files, "file"), f.tally())
	return err
}

// tally counts the problems in words.
func (f *findings) tally() string {
	switch {
	case f.errors == 0 && f.warnings == 0:
		return "no problems"
	case f.errors == 0:
		return counted(f.warnings, "warning")
	case f.warnings == 0:
		return counted(f.errors, "error")
	}
	return counted(f.errors, "error") + ", " + counted(f.warnings, "warning")
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// oneLine keeps a problem on its line, and what is in a file from moving a
// terminal's cursor: characters that do not print are written as Go does.
func oneLine(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// findingsJSON is the findings for other programs.
type findingsJSON struct {
	Files    int           `json:"files"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Problems []problemJSON `json:"problems"`
}

type problemJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"` // from 1; none when it is about the whole file
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func (f *findings) json() findingsJSON {
	out := findingsJSON{Files: f.files, Errors: f.errors, Warnings: f.warnings, Problems: []problemJSON{}}
	for _, p := range f.problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		}
		out.Problems = append(out.Problems, problemJSON{
			File: p.At.File, Line: p.At.Line, Column: p.At.Column,
			Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint,
		})
	}
	return out
}
