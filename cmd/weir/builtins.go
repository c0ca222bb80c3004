package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// strictBuiltins has the commands that cobra adds refuse names they do not know.
// By themselves they print help as a result, and exit with 0.
func strictBuiltins(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = someCommand
		case "completion":
			cmd.Args = aCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// someCommand refuses arguments that are not the path of a command.
func someCommand(cmd *cobra.Command, args []string) error {
	at := cmd.Root()
	for i, name := range args {
		subs := at.Commands()
		found := slices.IndexFunc(subs, func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
		switch {
		case found >= 0:
			at = subs[found]
		case len(subs) > 0:
			return aCommand(at, args[i:])
		default:
			return usage("", "there is no command %q", at.Name()+" "+name)
		}
	}
	return nil
}
