package main

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/weirlimit/weir"
)

// The output formats. A command has table and json, and some have more.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

// addOutput gives a command its --output. more are formats besides the two that
// all have.
func addOutput(cmd *cobra.Command, format *string, more ...string) {
	formats := append([]string{formatTable, formatJSON}, more...)
	flags := cmd.Flags()
	flags.StringVarP(format, "output", "o", formatTable, "output `format`: "+listText(formats))
	fromEnv(flags, "output", "WEIR_OUTPUT")
	completeWords(cmd, "output", formats...)
}

// completeWords tells the shell what a flag may be.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	// It fails for a flag that does not exist, or twice: neither depends on input.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// checkOutput refuses a format that the command does not have.
func checkOutput(format string, more ...string) error {
	formats := append([]string{formatTable, formatJSON}, more...)
	if slices.Contains(formats, format) {
		return nil
	}
	return usage("use "+listText(formats), "--output: unknown format %q", format)
}

// listText writes words as a person does: a, b or c.
func listText(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// writeJSON writes a result for other programs, on a line of its own.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeTable writes rows for people, the first of which is the titles. Text that
// callers chose must not move the cursor or the columns: see plain.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				if _, err := io.WriteString(t, "\t"); err != nil {
					return err
				}
			}
			if _, err := io.WriteString(t, plain(cell)); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(t, "\n"); err != nil {
			return err
		}
	}
	return t.Flush()
}

// jsonSpan is a span as jsonAttempt has it: microseconds, null for never.
func jsonSpan(m weir.Micros) *weir.Micros {
	if m == weir.Never {
		return nil
	}
	return &m
}

// plain is text as it is, or quoted when it holds what a terminal would act on.
func plain(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
