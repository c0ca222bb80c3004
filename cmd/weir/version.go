package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  noArgs(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText(info))
			return err
		},
	}
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

// buildVersion is the version alone, for a metric.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
