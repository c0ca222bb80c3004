package main

import (
	"context"
	"net/http"
)

// governProcessors keeps the server to as many processors as it needs, until ctx
// ends.
func (s *server) governProcessors(ctx context.Context) {
	if err := s.sys.procs.Run(ctx); err != nil {
		s.log.Warn("all processors are used, needed or not", "error", err)
	}
}

// withAllProcessors serves h with all processors: it may be at work for longer than a
// request should wait.
func (s *server) withAllProcessors(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.sys.procs.All()()
		h.ServeHTTP(w, r)
	})
}
