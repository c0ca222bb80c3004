package main

import (
	"log/slog"
	"net"
)

// warnOfExposure says what strangers can do at an address that is not loopback.
// It is said for each listener: one that was forgotten must not hide behind one
// that was meant.
func (s *server) warnOfExposure(d *door) {
	host, _, _ := net.SplitHostPort(d.addr())
	if net.ParseIP(host).IsLoopback() {
		return
	}
	harm := "spend every tenant's quota"
	if d.name == doorAdmin {
		harm = "let everything through past its limits, reset counters, read the policies and take profiles"
	}
	t := s.tls[d.name]
	log := s.log.With(slog.String("for", d.name), slog.String("address", d.addr()))
	switch {
	case t.config == nil && s.flags.tls.insecure:
		log.Info("not loopback and without TLS, as --insecure allows")
	case t.config == nil:
		log.Warn("NOT SECURE: this address is not loopback and has no TLS. Whoever reaches it can "+harm+", and whoever is on the way can read and change what is said",
			"hint", "give --tls-cert, --tls-key and --tls-client-ca (docs/tls.md), or listen on 127.0.0.1, or say --insecure if something else protects it")
	case d.name == doorAdmin && !t.clients:
		log.Warn("NOT SECURE: this address is not loopback and asks nobody for a certificate. Whoever reaches it can "+harm,
			"hint", "give --tls-client-ca, or listen on 127.0.0.1")
	}
}

// reachable is an address that this machine reaches a listener at: one that
// listens everywhere is none to connect to, on all systems.
func reachable(addr string) string {
	if host, port, err := net.SplitHostPort(addr); err == nil && net.ParseIP(host).IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// curlTarget is the address of the HTTP listener for curl, with the options that
// its TLS needs.
func (s *server) curlTarget() string {
	addr := reachable(s.doors[1].addr())
	switch t := s.tls[doorHTTP]; {
	case t.config == nil:
		return "http://" + addr
	case t.clients:
		return "--cacert CA.crt --cert CLIENT.crt --key CLIENT.key https://" + addr
	}
	return "--cacert CA.crt https://" + addr
}
