package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
)

// checkFlags is what the command line of check says.
type checkFlags struct {
	subject subjectFlags
	addr    string
	timeout time.Duration
	output  string
	tls     clientTLSFlags
}

func newCheck(sys system) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Ask a running server whether a request may pass",
		Long: `Check asks a server about one request, which is charged like any other. With
--descriptor it speaks Envoy's rate limit service, also to other servers of it;
with --policy or --dimension it speaks Weir's own API.

It exits with 0 when the request may pass, 3 when it is denied, and 1 when no
answer was to be had. A backslash before a comma makes it part of a value.`,
		Example: `  weir check --dimension tenant=acme
  weir check --domain api --descriptor tenant=acme,path=/login --hits 5
  weir check --dimension tenant=acme --addr https://weir.example.org:8081 --tls-ca ca.crt
  weir check --domain api --policy uploads --dimension tenant=acme --request-id 42 -o json`,
		Args: noArgs("dimension"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCheck(cmd.Context(), sys, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8081", "gRPC `address` of the server")
	f.subject.register(flags, "WEIR_CHECK_")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "longest to wait for the answer")
	for _, name := range []string{"addr", "timeout"} {
		fromEnv(flags, name, "WEIR_CHECK_"+strings.ToUpper(name))
	}
	f.tls.register(flags, "WEIR_CHECK_")
	addOutput(cmd, &f.output)
	return cmd
}

// answer is what a server said to one request.
type answer interface {
	allowed() bool
	json() any
	table(w io.Writer) error
}

func runCheck(ctx context.Context, sys system, f *checkFlags) error {
	s, err := f.subject.parse()
	if err != nil {
		return err
	}
	if err := checkOutput(f.output); err != nil {
		return err
	}
	if f.timeout <= 0 {
		return usage("for example 1s", "--timeout: %s is not above 0", f.timeout)
	}
	text, secure := strings.CutPrefix(f.addr, "https://")
	f.tls.on = f.tls.on || secure
	addr, err := parseServer(text)
	if err != nil {
		return err
	}
	a, err := ask(ctx, &call{addr: addr, timeout: f.timeout, within: ctx, tls: &f.tls}, s)
	if err != nil {
		return err
	}
	if f.output == formatJSON {
		err = writeJSON(sys.out, a.json())
	} else {
		err = a.table(sys.out)
	}
	if err == nil && !a.allowed() {
		err = exitStatus(exitDenied)
	}
	return err
}

// parseServer returns host:port of a server of ours.
func parseServer(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), "8081"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/ @") {
		return "", usage("for example 127.0.0.1:8081", "--addr %q: not an address: want host:port", text)
	}
	return net.JoinHostPort(host, port), nil
}

// ask sends one request.
func ask(ctx context.Context, c *call, s *subject) (a answer, err error) {
	conn, err := c.dial()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	send := askEnvoy
	if s.native {
		send = askNative
	}
	if a, err = send(ctx, conn, s); err != nil {
		return nil, c.failed(err)
	}
	return a, nil
}

// sender asks over one of the two APIs.
type sender func(ctx context.Context, conn grpc.ClientConnInterface, s *subject) (answer, error)

var _, _ sender = askEnvoy, askNative
