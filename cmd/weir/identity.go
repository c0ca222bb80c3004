package main

import (
	"net/http"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/forwardauth"
)

// authHandler serves /v1/auth.
func (s *server) authHandler() (http.Handler, error) {
	r, err := identity.New(identity.Options{})
	if err != nil {
		return nil, err
	}
	settings := &forwardauth.Settings{Resolver: r, Headers: forwardauth.DefaultHeaders()}
	return forwardauth.New(forwardauth.Options{Checker: s.engine, Settings: func() *forwardauth.Settings { return settings }}), nil
}
