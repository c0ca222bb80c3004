package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveFlags is what the command line of serve says.
type serveFlags struct {
	settings string
	config   []string
	cacheDir string
	deadline time.Duration
	drain    time.Duration

	grpc, http, admin string

	logLevel, logFormat string

	loading  loadingFlags
	redis    redisFlags
	tls      tlsFlags
	identity identityFlags
	salt     saltFlags
	memory   memoryFlags
	local    localFlags
	lease    leaseFlags
	degrade  degradeFlags
	engine   engineFlags
	peer     peerSettings

	instances instanceFlags
}

// newServe returns the command that fills f.
func newServe(sys system, f *serveFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer gateways over gRPC and HTTP",
		Long: `Serve answers Envoy's rate limit service and Weir's own API over gRPC, and
checks over plain HTTP. Counters live in memory, or with --redis in Redis.
Policies come from files, which are read again when they change and on SIGHUP.

Without --config a sample policy is served, to try it out. The variables that
envoyproxy/ratelimit reads (GRPC_PORT, RUNTIME_ROOT, REDIS_URL and others) are
understood where no flag and no WEIR_ variable says otherwise.`,
		Example: `  weir serve
  weir serve --config policies/ --redis 127.0.0.1:6379
  weir serve --compat envoy --config config.yaml --grpc 0.0.0.0:8081`,
		Args: noArgs("config"),
		// Before RunE, so that config print can do the same and go no further.
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := applySettings(cmd, f.settings); err != nil {
				return err
			}
			if err := f.applyPeerEnv(cmd, sys.lookupEnv); err != nil {
				return err
			}
			return f.check(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runServe(cmd.Context(), sys, f)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *serveFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.settings, "settings", "", "read flags from this YAML `file`; flags and variables win")
	flags.StringArrayVar(&f.config, "config", nil, "policy `file` or directory; repeat it for several")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "keep the last good policies in this `directory` for the next start")
	flags.DurationVar(&f.deadline, "deadline", 10*time.Millisecond, "longest a check may wait for the store")
	flags.DurationVar(&f.drain, "drain", 8*time.Second, "longest to wait for calls under way when told to stop")
	flags.StringVar(&f.grpc, "grpc", "127.0.0.1:8081", "gRPC `address`: Envoy's service and Weir's own")
	flags.StringVar(&f.http, "http", "127.0.0.1:8080", "HTTP `address`: /v1/check, /v1/auth, /json, /healthcheck")
	flags.StringVar(&f.admin, "admin", "127.0.0.1:6070", "admin `address`: metrics, health, debug; keep it on loopback")
	flags.StringVar(&f.logLevel, "log-level", "info", "log `level`: debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "text", "log `format`: text or json")
	flags.VisitAll(func(fl *pflag.Flag) {
		fromEnv(flags, fl.Name, "WEIR_"+strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_")))
	})
	f.loading.register(flags)
	f.redis.register(flags)
	f.identity.register(flags)
	f.tls.register(flags)
	f.salt.register(flags)
	f.instances.register(flags)
	f.memory.register(flags)
	f.local.register(flags)
	f.lease.register(flags)
	f.degrade.register(flags)
	f.engine.register(flags)
}

// logger makes the log that the flags ask for.
func (f *serveFlags) logger(sys system) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, usage("use debug, info, warn or error", "--log-level: unknown level %q", f.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(sys.err, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(sys.err, o)), nil
	}
	return nil, usage("use text or json", "--log-format: unknown format %q", f.logFormat)
}

func runServe(ctx context.Context, sys system, f *serveFlags) error {
	if err := f.loading.check(); err != nil {
		return err
	}
	if err := f.instances.check(); err != nil {
		return err
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	log, err := f.logger(sys)
	if err != nil {
		return err
	}
	s, err := newServer(ctx, sys, f, log)
	if err != nil {
		return err
	}
	return s.run(ctx)
}
