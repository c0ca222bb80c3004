package redistest

import (
	"net"
	"strconv"
)

// Addr returns "127.0.0.1:port". It stays the same over restarts.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port()))
}

// Port returns the port that clients connect to, with or without TLS.
func (s *Server) Port() int { return s.ports.client }

// Certs returns what a client needs to connect, nil without TLS.
func (s *Server) Certs() *Certs { return s.cfg.certs }

// Pid returns the id of the process, the last one if it has been stopped. It
// changes with a restart.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.proc.Pid()
}

// Stop kills the server as kill -9 does, paused or not, and returns once it is
// gone: connections are reset and its data are lost. Stopping twice is allowed.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.stop(); err != nil {
		s.t.Fatalf("redistest: stop: %v", err)
	}
}

// Restart stops the server if need be and starts it again, empty, on the same
// port and in the same directory.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.launchLocked(); err != nil {
		s.t.Fatalf("redistest: restart: %v", err)
	}
}

// Pause stops the process without ending it (SIGSTOP): the kernel goes on
// accepting connections and bytes, and nothing is answered. It returns once the
// process has stopped.
func (s *Server) Pause() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mu.proc.Pause(); err != nil {
		s.t.Fatalf("redistest: pause: %v", err)
	}
	s.mu.paused = true
}

// Resume lets a paused server go on, starting with the commands that came in
// the meantime.
func (s *Server) Resume() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mu.proc.Resume(); err != nil {
		s.t.Fatalf("redistest: resume: %v", err)
	}
	s.mu.paused = false
}
