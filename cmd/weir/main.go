package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir/internal/procs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	sys := system{out: os.Stdout, err: os.Stderr, lookupEnv: os.LookupEnv}
	if os.Getenv("GOMAXPROCS") == "" { // who said how many processors to use has decided
		sys.procs = procs.New()
	}
	code := run(ctx, os.Args[1:], sys)
	stop()
	os.Exit(code)
}

// system is what the program knows of the outside besides its arguments.
type system struct {
	out, err  io.Writer
	lookupEnv func(name string) (string, bool)
	procs     *procs.Governor // of a server's processors; nil for all of them
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, sys system) int {
	root := newRoot(sys)
	strictBuiltins(root)
	// Until a command runs, whatever goes wrong is in the command line.
	running := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := applyEnv(cmd, sys.lookupEnv); err != nil {
			return err
		}
		running = true
		return nil
	}
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !running {
		err = asUsage(err)
	}
	return report(sys.err, cmd, err)
}

func newRoot(sys system) *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "A distributed, multi-tenant rate limiter",
		Long: `Weir decides whether a request may pass, and if not, when.

Start with: weir try`,
		SilenceErrors:              true, // report prints them, with what to do
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Version:                    thisVersion(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(sys.out)
	root.SetErr(sys.err)
	root.SetFlagErrorFunc(flagError)
	var looked serveFlags // of the serve that newConfig has to itself
	root.AddCommand(
		newServe(sys, new(serveFlags)), newCheck(sys), newLint(sys), newExplain(sys),
		newConfig(sys, newServe(sys, &looked), &looked.peer),
		newAPIKey(sys), newSalt(sys), newSwitch(sys), newDoctor(sys), newBench(sys), newTry(sys), newVersion(), newMan(),
	)
	return root
}
