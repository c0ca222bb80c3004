package client

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/weirlimit/weir"
)

// How a connection is kept. A server that is gone without a word is noticed by
// pings; until then the deadline of each check, and that checks stop being sent
// to who does not answer, are what matters.
var (
	connectParams = grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
		MinConnectTimeout: 2 * time.Second,
	}
	keepaliveParams = keepalive.ClientParameters{Time: 15 * time.Second, Timeout: 3 * time.Second}
)

// New returns a client of the server at target, a host:port or another target
// that gRPC resolves (dns:///, unix:). It does not wait for a connection: until
// there is one, checks wait within their deadlines, and then the fallback
// answers.
func New(target string, opts ...Option) (*Client, error) {
	o, err := settle(opts)
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	switch {
	case o.tls != nil:
		creds = credentials.NewTLS(o.tls)
	case !o.insecure && !isLocal(target):
		return nil, invalid("target", "is not on this machine, and there is no TLS", "give client.WithTLS, or client.WithInsecure where the network is trusted")
	}
	conn, err := grpc.NewClient(
		target, grpc.WithTransportCredentials(creds),
		grpc.WithConnectParams(connectParams), grpc.WithKeepaliveParams(keepaliveParams),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), // what may have been decided is not sent again
	)
	if err != nil {
		return nil, &weir.Error{Code: weir.CodeInvalid, Field: "target", Message: "is not an address", Hint: "for example weir.internal:8081", Err: err}
	}
	c := start(o, conn)
	c.conn = conn
	return c, nil
}

// isLocal tells whether a target is on this machine, whoever resolves it.
func isLocal(target string) bool {
	for _, scheme := range []string{"unix:", "unix-abstract:"} {
		if strings.HasPrefix(target, scheme) {
			return true
		}
	}
	for _, scheme := range []string{"dns:///", "passthrough:///", "dns:", "passthrough:"} {
		target = strings.TrimPrefix(target, scheme)
	}
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		host = strings.Trim(target, "[]")
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
