package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/saltfile"
)

// newSalt groups what is about the file of salts.
func newSalt(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "salt",
		Short: "Make, rotate and list the salts that private values are hashed with",
		Long: `Addresses, users and API keys are hashed with a secret salt before they become
part of a key. All instances with one Redis need the same salts, and so share a
file: give it to weir serve with --salt-file.

A rotation resets no counter: every instance reads of the next salt before it
comes into force, and for a while counters are known by both names.`,
		Args: aCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSaltNew(sys), newSaltRotate(sys), newSaltList(sys))
	return cmd
}

// oneFile wants the file of salts as the only argument.
func oneFile(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage("for example salts.yaml", "which file of salts?")
	case 1:
		return nil
	}
	return usage("give one", "%d files", len(args))
}

func newSaltNew(sys system) *cobra.Command {
	var overlap, retention string
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Make a file with one salt",
		Long: `New makes a file with one salt, readable by its owner only. It does not touch a
file that is there: other salts would reset every counter by a private value.`,
		Example: `  weir salt new salts.yaml
  weir salt new --retention 365d /etc/weir/salts.yaml`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			return runSaltNew(sys.out, args[0], overlap, retention)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&overlap, "overlap", "1m", "how far the `clocks` of two instances may be apart")
	flags.StringVar(&retention, "retention", "31d", "longest `window` of a limit by a private value")
	fromEnv(flags, "overlap", "WEIR_SALT_OVERLAP")
	fromEnv(flags, "retention", "WEIR_SALT_RETENTION")
	return cmd
}

func runSaltNew(out io.Writer, path, overlap, retention string) error {
	spans := [2]weir.Micros{}
	for i, flag := range []struct{ name, text string }{{"overlap", overlap}, {"retention", retention}} {
		span, err := weir.ParseWindow(flag.text)
		if err != nil || span <= 0 {
			return usage("use s, m, h or d, for example 1m or 31d", "--%s: %q is not a span of time", flag.name, flag.text)
		}
		spans[i] = span
	}
	ring, err := saltfile.Make(nowInSeconds(), spans[0], spans[1])
	if err != nil {
		return usage("", "--%w", err) // its field is the flag's name
	}
	if err := saltfile.Create(path, ring); err != nil {
		switch {
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%w (to change the salt without resetting counters, use weir salt rotate)", err)
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w (make the directory %s first, or give another path)", err, filepath.Dir(path))
		}
		return err
	}
	_, err = fmt.Fprintf(out, "made %s with salt %s; give it to all instances with --salt-file\n", path, ring.Config().Salts[0].ID)
	return err
}

func newSaltRotate(sys system) *cobra.Command {
	var in time.Duration
	cmd := &cobra.Command{
		Use:   "rotate FILE",
		Short: "Add a salt that takes over after a while",
		Long: `Rotate adds a salt that comes into force after --in, which must be long enough
for all instances to get and read the file, and removes salts that nothing is
named by any more. No counter is reset.

Salts that were removed and are not in a backup either make old keys and logs
unreadable for good.`,
		Example: `  weir salt rotate salts.yaml
  weir salt rotate --in 24h /etc/weir/salts.yaml`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error { return runSaltRotate(sys, args[0], in) },
	}
	cmd.Flags().DurationVar(&in, "in", time.Hour, "how long from now the new salt comes into force")
	fromEnv(cmd.Flags(), "in", "WEIR_SALT_IN")
	return cmd
}

func runSaltRotate(sys system, path string, in time.Duration) error {
	ring, err := readSalts(path)
	if err != nil {
		return err
	}
	if text := saltfile.Warning(path); text != "" {
		if _, err := fmt.Fprintln(sys.err, "weir: warning: "+text); err != nil {
			return err
		}
	}
	now := weir.MicrosAt(time.Now())
	from := (now + weir.MicrosOf(in) + weir.Second - 1) / weir.Second * weir.Second
	next, err := saltfile.Rotate(ring, now, from)
	if err != nil {
		return fmt.Errorf("--%w", err) // its field is the flag's name
	}
	if err := saltfile.Replace(path, next); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	salts := next.Config().Salts
	_, err = fmt.Fprintf(sys.out, "salt %s comes into force at %s; all instances need the file before %s\n",
		salts[len(salts)-1].ID, timeText(from), timeText(from-next.Overlap()))
	if gone := len(ring.Config().Salts) + 1 - len(salts); err == nil && gone > 0 {
		_, err = fmt.Fprintf(sys.out, "%d no longer needed and removed: remove old copies of the file too\n", gone)
	}
	return err
}

// nowInSeconds keeps fractions out of a file that people read.
func nowInSeconds() weir.Micros { return weir.MicrosAt(time.Now().Truncate(time.Second)) }

func timeText(at weir.Micros) string { return at.Time().UTC().Format(time.RFC3339) }
