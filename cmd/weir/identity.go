package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	live, err := identityfile.Open(ctx, path, identityfile.Hooks{
		Rejected: s.metrics.Rejected, Keys: s.keysFetched,
		Warn: func(w identityfile.Warning) { s.log.Warn(w.Text, "hint", w.Hint) },
	})
	switch {
	case errors.Is(err, fs.ErrNotExist): // as for every file that is not there
		return fmt.Errorf("--identity: %w (see whether the path is right; docs/identity.md says what the file holds)", err)
	case err != nil:
		return usage("", "--identity: %w\ndocs/identity.md says what the file holds", err)
	}
	s.identity = live.Settings
	s.followed = append(s.followed, followed{name: "identity", file: live})
	return nil
}

// keysFetched says what became of a provider's keys.
func (s *server) keysFetched(err error, none bool) {
	switch {
	case err == nil:
		s.log.Info("keys to verify tokens with were fetched")
	case none:
		s.log.Error("the keys to verify tokens with cannot be fetched: no token is believed until they arrive",
			"error", err, "hint", "see whether jwks_url is right and its host answers; it is asked again by itself")
	default:
		s.log.Error("the keys to verify tokens with cannot be fetched; those of before stay in force",
			"error", err, "hint", "see whether the host of jwks_url answers; it is asked again by itself")
	}
}

// authHandler serves /v1/auth.
func (s *server) authHandler() http.Handler {
	return forwardauth.New(forwardauth.Options{Checker: s.engine, Settings: s.identity, Rejected: s.metrics.Rejected})
}
