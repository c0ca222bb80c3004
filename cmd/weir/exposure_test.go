package main

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/tlsfile"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newMetrics() *obs.Metrics { return obs.New(obs.Options{}) }

// startGRPC serves health with these options.
func startGRPC(t *testing.T, o ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(o...)
	healthv1.RegisterHealthServer(g, health.NewServer())
	done := make(chan error, 1)
	go func() { done <- g.Serve(l) }()
	t.Cleanup(func() {
		g.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestExposure: an address that is not loopback is warned of, unless it is
// secured or meant.
func TestExposure(t *testing.T) {
	p := newPKI(t)
	anywhere := []string{"--grpc", "0.0.0.0:0", "--http", "[::]:0", "--admin", "0.0.0.0:0"}
	for _, tc := range []struct {
		name         string
		args         []string
		warns, infos int
	}{
		{"loopback", nil, 0, 0},
		{"open", anywhere, 3, 0},
		{"one open", anywhere[:2], 1, 0},
		{"meant", append(anywhere, "--insecure"), 0, 3},
		{"TLS", append(anywhere, p.flags()...), 1, 0}, // the admin listener asks nobody who they are
		{"mTLS", append(anywhere, p.flags("--tls-client-ca", p.cc)...), 0, 0},
	} {
		s := startServe(t, tc.args...)
		log := s.log.String()
		if got := strings.Count(log, `level=WARN msg="NOT SECURE`); got != tc.warns {
			t.Errorf("%s: %d warnings, want %d\n%s", tc.name, got, tc.warns, log)
		}
		if got := strings.Count(log, "hint="); got != tc.warns {
			t.Errorf("%s: %d hints, want %d", tc.name, got, tc.warns)
		}
		if got := strings.Count(log, "as --insecure allows"); got != tc.infos {
			t.Errorf("%s: %d words about --insecure, want %d", tc.name, got, tc.infos)
		}
	}
}

// TestCurlTarget: the line to copy works wherever the server listens.
func TestCurlTarget(t *testing.T) {
	for listen, want := range map[string]string{"0.0.0.0:0": "127.0.0.1", "[::]:0": "127.0.0.1", ":0": "127.0.0.1", "127.0.0.1:0": "127.0.0.1"} {
		s := startServe(t, "--http", listen, "--insecure")
		_, port, err := net.SplitHostPort(s.addr(doorHTTP))
		if err != nil {
			t.Fatal(err)
		}
		s.log.await(t, "curl -i http://"+net.JoinHostPort(want, port)+"/v1/check ")
	}
	for addr, want := range map[string]string{"[::1]:80": "[::1]:80", "192.0.2.1:80": "192.0.2.1:80", "[::]:80": "127.0.0.1:80"} {
		if got := reachable(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// TestExpiryIsWarnedOfAgain: once, then once a day, and at once when it gets
// worse.
func TestExpiryIsWarnedOfAgain(t *testing.T) {
	p := newPKI(t)
	files, err := tlsfile.OpenServer(tlsfile.ServerFiles{Cert: p.cert, Key: p.key})
	if err != nil {
		t.Fatal(err)
	}
	text := new(logText)
	c := &certificates{Server: files, doors: []string{doorGRPC}, log: slog.New(slog.NewTextHandler(text, nil)), metrics: newMetrics()}
	end := files.Expires()
	for _, tc := range []struct {
		before time.Duration // the end
		warned int
	}{
		{8 * 24 * time.Hour, 0},
		{7 * 24 * time.Hour, 1},
		{7*24*time.Hour - time.Hour, 1},
		{6 * 24 * time.Hour, 2},
		{6*24*time.Hour - time.Minute, 2},
		{-time.Second, 3},
		{-time.Minute, 3},
		{-25 * time.Hour, 4},
	} {
		c.look(end.Add(-tc.before))
		if got := strings.Count(text.String(), "level=WARN"); got != tc.warned {
			t.Errorf("%v before the end: %d warnings, want %d", tc.before, got, tc.warned)
		}
	}
	if !strings.Contains(text.String(), "has expired") || !strings.Contains(text.String(), end.UTC().Format(time.RFC3339)) {
		t.Errorf("the log does not say when:\n%s", text)
	}
}

// TestLoopbackByDefault: nobody is reached who did not ask for it.
func TestLoopbackByDefault(t *testing.T) {
	var f serveFlags
	f.register(pflag.NewFlagSet("serve", pflag.ContinueOnError))
	for _, addr := range []string{f.grpc, f.http, f.admin} {
		host, _, err := net.SplitHostPort(addr)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("%q is open to others: %v", addr, err)
		}
	}
}
