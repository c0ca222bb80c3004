package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/nearest"
)

// The exit codes.
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2
	exitDenied = 3 // of check: the request may not pass
)

// exitStatus ends the program with that code and no words of its own: what
// there is to say was among the results.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usageError is a command line that cannot be followed.
type usageError struct {
	err  error
	hint string // what to write instead, or empty
}

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.err.Error()
	}
	return e.err.Error() + " (" + e.hint + ")"
}

func (e *usageError) Unwrap() error { return e.err }

func usage(hint, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), hint: hint}
}

func asUsage(err error) error {
	if _, ok := errors.AsType[*usageError](err); ok {
		return err
	}
	return &usageError{err: err}
}

// report prints what went wrong and where to read on, and returns the exit code.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	if status, ok := errors.AsType[exitStatus](err); ok {
		return int(status)
	}
	code := exitError
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	text = "weir: " + strings.TrimSpace(text) + "\n"
	if _, ok := errors.AsType[*usageError](err); ok {
		code = exitUsage
		text += fmt.Sprintf("Run '%s --help' for what there is.\n", cmd.CommandPath())
	}
	// An error stream that cannot be written to leaves the exit code to speak.
	_, _ = io.WriteString(w, text)
	return code
}

// flagError adds to an unknown flag the one that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return asUsage(err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if name := nearest.Of(unknown.GetSpecifiedName(), names); name != "" {
		hint = "did you mean --" + name + "?"
	}
	return &usageError{err: err, hint: hint}
}
