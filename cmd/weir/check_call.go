package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
)

// call is one call of a server, and why it failed if it did.
type call struct {
	addr    string
	timeout time.Duration
	within  context.Context // the program's own, without the timeout
	tls     *clientTLSFlags

	mu struct {
		sync.Mutex
		dialing error // why there is no connection; nil once there was one
	}
}

// dial prepares a connection, which is made by the first call over it.
func (c *call) dial() (*grpc.ClientConn, error) {
	creds, err := c.tls.credentials()
	if err != nil {
		return nil, err
	}
	// passthrough: the dialer resolves names; no proxy, which the environment
	// of a developer often has and a rate limiter is never behind.
	return grpc.NewClient("passthrough:///"+c.addr,
		grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(c.connect), grpc.WithNoProxy(), grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("weir-check"))
}

// connect keeps the error, which gRPC would hand on as a text only.
func (c *call) connect(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	c.mu.Lock()
	c.mu.dialing = err
	c.mu.Unlock()
	return conn, err
}

// failed says what went wrong in a person's words, and what to do next.
func (c *call) failed(err error) error {
	c.mu.Lock()
	dialing := c.mu.dialing
	c.mu.Unlock()
	s := status.Convert(err)
	switch code := s.Code(); {
	case c.within.Err() != nil:
		return c.within.Err()
	case dialing != nil && (code == codes.Unavailable || code == codes.DeadlineExceeded):
		return &weir.Error{Message: "connect to " + c.addr, Err: dialing, Hint: dialHint(dialing)}
	case code == codes.DeadlineExceeded:
		return c.error(fmt.Sprintf("no answer within %s", c.timeout),
			"raise --timeout, or see whether --addr names the gRPC listener of weir serve")
	case code == codes.Unimplemented:
		return c.error(s.Message(), "see whether --addr names the gRPC listener; --descriptor speaks Envoy's API, --dimension and --policy Weir's own")
	case code == codes.Unauthenticated && s.Message() == noClient:
		return c.error(s.Message(), "give --tls-cert and --tls-key")
	case code == codes.Unavailable && c.tls.hint(s.Message()) != "":
		return c.error(s.Message(), c.tls.hint(s.Message()))
	case code == codes.Unavailable:
		return c.error(s.Message(), "--addr names the gRPC listener of weir serve, 127.0.0.1:8081 by default")
	}
	return c.error(s.Message(), "")
}

func (c *call) error(message, hint string) error {
	message, _, _ = strings.Cut(message, "\n") // what follows is the page that a web server sent
	return &weir.Error{Message: "ask " + c.addr, Err: errors.New(message), Hint: hint}
}

func dialHint(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "is weir serve running there? --addr names its gRPC listener"
	}
	return "see whether --addr is right"
}
