package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	grpccreds "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weirlimit/weir/internal/tlsfile"
)

// The listeners, as the log, the flags and metrics call them.
const (
	doorGRPC  = "grpc"
	doorHTTP  = "http"
	doorAdmin = "admin"
)

// doorTLS is how the connections of one listener are secured. The zero value is
// not at all.
type doorTLS struct {
	config  *tls.Config // nil: plain
	clients bool        // they show a certificate
	exempt  bool        // health is for those without one, too
}

// openTLS reads what the listeners are secured with, and has it followed.
func (s *server) openTLS() error {
	f, peer := &s.flags.tls, &s.flags.peer
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.cert != "":
		return s.secure(
			tlsfile.ServerFiles{Cert: f.cert, Key: f.key, ClientCA: f.clientCA}, f.names, 0,
			doorGRPC, doorHTTP, doorAdmin)
	case peer.grpcTLS && (peer.grpcCert == "" || peer.grpcKey == ""):
		return usage("set GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY to files, or give --tls-cert and --tls-key",
			"GRPC_SERVER_USE_TLS: there is no certificate")
	case peer.grpcTLS && peer.grpcClientSAN != "" && peer.grpcClientCA == "":
		return usage("set GRPC_CLIENT_TLS_CACERT to a file",
			"GRPC_CLIENT_TLS_SAN: names are worth what the authority is that vouches for them")
	case peer.grpcTLS:
		return s.secure(
			tlsfile.ServerFiles{Cert: peer.grpcCert, Key: peer.grpcKey, ClientCA: peer.grpcClientCA}, peer.names,
			tls.VersionTLS12, // as that program allows
			doorGRPC)
	}
	return nil
}

// names are those that envoyproxy/ratelimit's variables give to clients.
func (p *peerSettings) names(string) (tlsfile.Names, error) {
	if p.grpcClientSAN == "" {
		return tlsfile.Names{}, nil
	}
	n, err := tlsfile.ParseNames([]string{p.grpcClientSAN})
	if err != nil {
		return n, usage("", "GRPC_CLIENT_TLS_SAN: %w", err)
	}
	return n, nil
}

// secure secures listeners with the same files.
func (s *server) secure(
	files tlsfile.ServerFiles, names func(door string) (tlsfile.Names, error), minVersion uint16, doors ...string,
) error {
	allowed := make(map[string]tlsfile.Names, len(doors))
	for _, door := range doors {
		n, err := names(door)
		if err != nil {
			return err
		}
		allowed[door] = n
	}
	t, err := tlsfile.OpenServer(files)
	if err != nil {
		return fmt.Errorf("certificates of the listeners: %w", err)
	}
	if s.tls == nil {
		s.tls = make(map[string]doorTLS)
	}
	for _, door := range doors {
		r := tlsfile.Rules{
			Protocols: []string{"h2"}, MinVersion: minVersion,
			Names: allowed[door], Optional: s.flags.tls.healthExempt, Refused: refusals(s.log, door),
		}
		if door != doorGRPC {
			r.Protocols = append(r.Protocols, "http/1.1")
		}
		s.tls[door] = doorTLS{config: t.Config(r), clients: t.AsksClients(), exempt: r.Optional}
	}
	c := &certificates{Server: t, doors: doors, log: s.log, metrics: s.metrics}
	c.look(time.Now())
	s.followed = append(s.followed, followed{"certificates of the listeners", c})
	return nil
}

// grpcCredentials are those of a gRPC server behind a listener.
func (t *doorTLS) grpcCredentials() grpccreds.TransportCredentials {
	if t.config == nil {
		return insecure.NewCredentials()
	}
	return grpccreds.NewTLS(t.config)
}

// refusals logs which clients were refused for their names, once a second at
// most: they may come back as fast as they can.
func refusals(log *slog.Logger, door string) func(error) {
	var next atomic.Int64 // nanoseconds
	return func(err error) {
		now, at := time.Now().UnixNano(), next.Load()
		if now >= at && next.CompareAndSwap(at, now+int64(time.Second)) {
			log.Warn("client refused", "for", door, "because", err)
		}
	}
}
