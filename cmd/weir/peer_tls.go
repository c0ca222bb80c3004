package main

import (
	"crypto/tls"

	grpccreds "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// credentials are those of the gRPC listener: TLS with the files that
// envoyproxy/ratelimit's variables name, so that who switches keeps it, else
// none.
func (p *peerSettings) credentials() (grpccreds.TransportCredentials, error) {
	if !p.grpcTLS {
		return insecure.NewCredentials(), nil
	}
	pair, err := tls.LoadX509KeyPair(p.grpcCert, p.grpcKey)
	if err != nil {
		return nil, usage("check GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY", "GRPC_SERVER_USE_TLS: %w", err)
	}
	return grpccreds.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}
