package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir/internal/nearest"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  noArgs(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), thisVersion())
			return err
		},
	}
}

// thisVersion describes this build, for weir version and weir --version.
func thisVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionText(info)
}

// versionText describes a build; info may be nil.
func versionText(info *debug.BuildInfo) string {
	version, revision, dirty := "(devel)", "", ""
	if info != nil {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = " " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = " (modified)"
			}
		}
	}
	return fmt.Sprintf("weir %s%s%s %s %s/%s", version, revision, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// noArgs refuses arguments. flag is what one was probably meant for, or empty.
func noArgs(flag string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		if flag != "" {
			hint = fmt.Sprintf("did you mean --%s %q?", flag, args[0])
		}
		return usage(hint, "unexpected argument %q", args[0])
	}
}

// aCommand refuses arguments where the name of a command is wanted, and says
// which was probably meant.
func aCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := names[0]
	if last := len(names) - 1; last > 0 {
		hint = strings.Join(names[:last], ", ") + " or " + names[last]
	}
	if name := nearest.Of(args[0], names); name != "" {
		hint = "did you mean " + cmd.CommandPath() + " " + name + "?"
	}
	return usage(hint, "there is no command %q", cmd.Name()+" "+args[0])
}

// buildVersion is the version alone, for a metric.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
