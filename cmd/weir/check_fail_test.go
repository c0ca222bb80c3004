package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/rls"
)

// TestCheckFails: an error says what to do next, prints no result and is not
// taken for a denial.
func TestCheckFails(t *testing.T) {
	refuse := func(e *weir.Error) *fakeEngine {
		return &fakeEngine{decide: func(*weir.Request, *weir.Decision) error { return e }}
	}
	both := func(e *fakeEngine) []func(*grpc.Server) {
		return []func(*grpc.Server){envoyAPI(e, rls.Options{}), nativeAPI(e)}
	}
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	for _, tc := range []struct {
		name string
		addr string
		args []string
		want string
	}{
		{
			"nobody listens", closedPort(t), nil,
			"connect to {ADDR}: dial tcp {ADDR}: connect: connection refused (is weir serve running there? --addr names its gRPC listener)",
		},
		{
			"it is not gRPC", strings.TrimPrefix(web.URL, "http://"), nil,
			"(--addr names the gRPC listener of weir serve, 127.0.0.1:8081 by default)",
		},
		{
			"it says nothing", silentPort(t),
			[]string{"--timeout", "20ms"},
			"ask {ADDR}: no answer within 20ms (raise --timeout, or see whether --addr names the gRPC listener of weir serve)",
		},
		{
			"it speaks the other API", startServer(t, nativeAPI(&fakeEngine{})),
			[]string{"--descriptor", "a=1"},
			"(see whether --addr names the gRPC listener; --descriptor speaks Envoy's API, --dimension and --policy Weir's own)",
		},
		{
			"it has no policies yet",
			startServer(t, both(refuse(&weir.Error{Code: weir.CodeNotReady, Message: "no rate limit configuration loaded"}))...),
			nil, "ask {ADDR}: no rate limit configuration loaded (",
		},
		{
			"it cannot be right",
			startServer(t, both(refuse(&weir.Error{Code: weir.CodeInvalid, Field: "user", Message: "is missing", Hint: "send it"}))...),
			nil, "ask {ADDR}: user: is missing (send it)",
		},
		{
			"there is no such policy",
			startServer(t, both(refuse(&weir.Error{Code: weir.CodePolicyNotFound, Message: "there is no policy p"}))...),
			[]string{"--policy", "p"},
			`ask {ADDR}: domain "d" has no policy "p" (/rlconfig`,
		},
		{
			"a server without words", startServer(t, both(&fakeEngine{decide: func(*weir.Request, *weir.Decision) error {
				return errors.New("out of luck")
			}})...), nil, "ask {ADDR}: out of luck",
		},
	} {
		args := append([]string{"check", "--addr", tc.addr, "--domain", "d"}, tc.args...)
		if tc.args == nil || tc.args[0] == "--timeout" {
			args = append(args, "--dimension", "a=1")
		}
		code, out, errs := weirRun(t, args...)
		want := strings.ReplaceAll(tc.want, "{ADDR}", tc.addr)
		if code != exitError || out != "" || !strings.HasPrefix(errs, "weir: ") || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr\n%s\nwant\n%s", tc.name, code, out, errs, want)
		}
	}
}

// closedPort is an address that nobody listens at.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentPort is an address where connections are made and nothing is said.
func silentPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestNoConnection: whatever kept it from being made is said, not that time ran
// out meanwhile.
func TestNoConnection(t *testing.T) {
	c := &call{addr: "nowhere:1", timeout: time.Second, within: t.Context(), tls: new(clientTLSFlags)}
	c.mu.dialing = &net.DNSError{Err: "no such host", Name: "nowhere"}
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded} {
		got := c.failed(status.Error(code, "words of gRPC")).Error()
		if want := "connect to nowhere:1: lookup nowhere: no such host (see whether --addr is right)"; got != want {
			t.Errorf("%v: %q, want %q", code, got, want)
		}
	}
}

func TestCheckInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	addr := startServer(t, nativeAPI(&fakeEngine{decide: func(*weir.Request, *weir.Decision) error {
		cancel()
		return errors.New("too late")
	}}))
	var out, errs bytes.Buffer
	code := run(ctx, []string{"check", "--addr", addr, "--dimension", "a=1"}, system{out: &out, err: &errs, lookupEnv: noEnv})
	if code != exitError || out.Len() > 0 || errs.String() != "weir: interrupted\n" {
		t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
	}
}

// TestResultsThatFail: as TestOutputThatFails, for the commands about policies.
// A denial that could not be written is an error.
func TestResultsThatFail(t *testing.T) {
	addr := startServer(t, envoyAPI(&fakeEngine{decide: exhausted}, rls.Options{}), nativeAPI(&fakeEngine{decide: exhausted}))
	sample := []string{"--config", "sample.yaml", "--dimension", "tenant=acme"}
	for _, args := range [][]string{
		{"check", "--addr", addr, "--dimension", "a=1"},
		{"check", "--addr", addr, "--dimension", "a=1", "-o", "json"},
		{"check", "--addr", addr, "--domain", "d", "--descriptor", "a=1"},
		{"lint", "sample.yaml"},
		{"lint", "sample.yaml", "-o", "json"},
		append([]string{"explain"}, sample...), append([]string{"explain", "-o", "json"}, sample...),
		{"config", "print"},
		{"config", "print", "-o", "json"},
		{"config", "print", "-o", "yaml"},
	} {
		_, whole, _ := weirRun(t, args...)
		if whole == "" {
			t.Fatalf("%v: no result", args)
		}
		for left := 0; left < len(whole); left += 1 + len(whole)/8 {
			var errs bytes.Buffer
			code := run(context.Background(), args, system{out: &brokenPipe{left}, err: &errs, lookupEnv: noEnv})
			if code != exitError || !strings.Contains(errs.String(), "broken pipe") {
				t.Errorf("%v, pipe broken after %d bytes: exit code %d, %q", args, left, code, errs.String())
			}
		}
	}
}
