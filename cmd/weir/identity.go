package main

import (
	"context"
	"net/http"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/forwardauth"
	"github.com/weirlimit/weir/internal/identityfile"
)

// identityFlags say whose word is taken for what.
type identityFlags struct {
	file string
}

func (f *identityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "identity", "",
		"`file` of trusted peers, tokens and API keys; without it loopback is trusted and one hop of X-Forwarded-For")
	fromEnv(flags, "identity", "WEIR_IDENTITY")
}

// openIdentity reads the file that says who is who, and has it followed.
func (s *server) openIdentity(ctx context.Context) error {
	path := s.flags.identity.file
	if path == "" {
		c := identityfile.Default()
		c.Identity.Rejected = s.metrics.Rejected
		r, err := identity.New(c.Identity)
		settings := &forwardauth.Settings{Resolver: r, Headers: c.Headers}
		s.identity = func() *forwardauth.Settings { return settings }
		return err
	}
	live, err := identityfile.Open(ctx, path, s.metrics.Rejected, func(err error) {
		s.log.Error("no keys yet to verify tokens with; they are asked for again", "error", err)
	})
	if err != nil {
		return usage("see docs/identity.md", "--identity: %w", err)
	}
	s.identity = live.Settings
	s.followed = append(s.followed, followed{name: "identity", file: live})
	return nil
}

// authHandler serves /v1/auth.
func (s *server) authHandler() http.Handler {
	return forwardauth.New(forwardauth.Options{Checker: s.engine, Settings: s.identity, Rejected: s.metrics.Rejected})
}
