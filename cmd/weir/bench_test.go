package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchTLS loads servers with TLS over every API, and says what is wrong
// with those that it cannot reach.
func TestBenchTLS(t *testing.T) { onEachEngine(t, testBenchTLS) }

func testBenchTLS(t *testing.T) {
	p := newPKI(t)
	dir := t.TempDir()
	crt, key := filepath.Join(dir, "gateway.crt"), filepath.Join(dir, "gateway.key")
	p.ca.Client(t, "gateway.test").Write(t, crt, key)
	s := startServe(t, p.flags("--tls-client-ca", p.cc)...)
	mine := []string{"--tls-ca", p.cc, "--tls-cert", crt, "--tls-key", key}
	for api, addr := range map[string]string{
		"rls": s.addr(doorGRPC), "native": s.addr(doorGRPC), "stream": s.addr(doorGRPC), "http": s.addr(doorHTTP),
	} {
		args := append([]string{
			"bench", "--api", api, "--addr", addr, "--domain", "default", "--names", "tenant", "--requests", "50", "--callers", "4",
			"--warmup", "0s", "--duration", "30s", "--timeout", "20s", "--expect", "allow", "-q",
		}, mine...)
		code, out, errs := weirRun(t, args...)
		if code != exitOK || errs != "" || !strings.Contains(out, "\n50 ") || strings.Contains(out, "FAILURE") {
			t.Errorf("%s: exit code %d, %s\n%s", api, code, errs, out)
		}
	}
	plain := startServe(t).addr(doorGRPC)
	for _, tc := range []struct {
		name, addr string
		args       []string
		code       int
		want       string
	}{
		{"the system's authorities", s.addr(doorGRPC), []string{"--tls"}, exitError, "give the file of its authority with --tls-ca"},
		{"https", "https://" + s.addr(doorGRPC), nil, exitError, "give the file of its authority with --tls-ca"},
		{"TLS where there is none", plain, mine, exitError, "leave --tls out"},
		{"half a pair", s.addr(doorGRPC), mine[:4], exitUsage, "go together"},
	} {
		code, out, errs := weirRun(t, append([]string{"bench", "--addr", tc.addr, "-q", "--duration", "1s"}, tc.args...)...)
		if code != tc.code || out != "" || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: exit code %d, want %d; %q is not in %s", tc.name, code, tc.code, tc.want, errs)
		}
	}
}

// TestBenchTable: what a person reads.
func TestBenchTable(t *testing.T) {
	s := startServe(t)
	list := filepath.Join(t.TempDir(), "list.txt")
	code, out, errs := weirRun(t, "bench", "--addr", s.addr(doorGRPC), "--domain", "default", "--names", "tenant", "--requests", "20",
		"--rate", "1000", "--warmup", "0s", "--timeout", "20s", "--record", list)
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{
		"rls at " + s.addr(doorGRPC) + ", open loop of 1000/s on 4 connections",
		"DECISIONS  PER SECOND  ALLOWED  DENIED  FAILED\n20 ",
		"MEAN ", "P99.99", "CPU PER REQUEST\nbench ", "\n20 requests recorded\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestBenchUndecided: what passes because there is no policy for it says nothing
// of a server, over any API.
func TestBenchUndecided(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	writePolicies(t, file, "domain: bench\npolicies:\n  - {id: k1, by: k1, match: {k1: \"*\"}, limits: 1000000/s}\n")
	s := startServe(t, "--config", file)
	grpc, web := s.addr(doorGRPC), s.addr(doorHTTP)
	for _, tc := range []struct {
		name string
		args []string
		fail bool
	}{
		{"rls", []string{"--addr", grpc}, false},
		{"rls, only to look", []string{"--addr", grpc, "--hits", "0"}, false},
		{"rls, no policy for two of three", []string{"--addr", grpc, "--descriptors", "3"}, true},
		{"rls, no such domain", []string{"--addr", grpc, "--domain", "nope", "--expect", "allow"}, true},
		{"native", []string{"--addr", grpc, "--api", "native"}, false},
		{"native, a policy for one of three", []string{"--addr", grpc, "--api", "native", "--descriptors", "3"}, false},
		{"native, no such domain", []string{"--addr", grpc, "--api", "native", "--domain", "nope", "--expect", "allow"}, true},
		{"native, no policy", []string{"--addr", grpc, "--api", "native", "--names", "k2"}, true},
		{"stream", []string{"--addr", grpc, "--api", "stream"}, false},
		{"stream, no such domain", []string{"--addr", grpc, "--api", "stream", "--domain", "nope"}, true},
		{"http", []string{"--addr", web, "--api", "http"}, false},
		{"http, no such domain", []string{"--addr", web, "--api", "http", "--domain", "nope"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"bench", "-q", "--requests", "20", "--callers", "4", "--warmup", "0s", "--timeout", "20s"}, tc.args...)
			code, out, errs := weirRun(t, args...)
			switch {
			case !tc.fail && (code != exitOK || errs != "" || !strings.Contains(out, "\n20 ")):
				t.Errorf("exit code %d, %s\n%s", code, errs, out)
			case tc.fail && (code != exitError || !strings.Contains(errs, "nothing was decided") ||
				!strings.Contains(out, "undecided  20        allowed because no limit applies")):
				t.Errorf("exit code %d, %s\n%s", code, errs, out)
			}
		})
	}
}

// TestBenchRequests: so many are sent and counted, and a warm-up that used them
// up is said to have.
func TestBenchRequests(t *testing.T) {
	s := startServe(t)
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string // in what it prints or says
	}{
		{"no warm-up", nil, exitOK, "\n100 "},
		{"a warm-up that was asked for", []string{"--warmup", "30s"}, exitError, "all of --requests 100 were sent in the warm-up (shorten --warmup"},
		{"open loop", []string{"--rate", "1000"}, exitOK, "\n100 "},
	} {
		args := append([]string{"bench", "-q", "--addr", s.addr(doorGRPC), "--domain", "default", "--names", "tenant", "--requests", "100", "--timeout", "20s"}, tc.args...)
		code, out, errs := weirRun(t, args...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("%s: exit code %d, %s\n%s", tc.name, code, errs, out)
		}
	}
}

// TestBenchConnections: as many as there are.
func TestBenchConnections(t *testing.T) {
	s := startServe(t)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--callers", "8"}, "closed loop of 8 callers on 8 connections"},
		{[]string{"--callers", "8", "-o", "json"}, `"conns":8`},
		{[]string{"--callers", "8", "--rate", "1000"}, "open loop of 1000/s on up to 8 connections"},
	} {
		args := append([]string{"bench", "-q", "--api", "http", "--addr", s.addr(doorHTTP), "--domain", "default", "--names", "tenant", "--requests", "50", "--timeout", "20s"}, tc.args...)
		code, out, errs := weirRun(t, args...)
		if code != exitOK || !strings.Contains(strings.ReplaceAll(out, `": `, `":`), tc.want) {
			t.Errorf("exit code %d, %s\n%q is not in\n%s", code, errs, tc.want, out)
		}
	}
}

// TestBenchOfNoProcess: the address is not what is wrong.
func TestBenchOfNoProcess(t *testing.T) {
	s := startServe(t)
	code, _, errs := weirRun(t, "bench", "-q", "--addr", s.addr(doorGRPC), "--pid", "server=2000000000")
	if code != exitError || !strings.Contains(errs, "(is there a process 2000000000?)") || strings.Contains(errs, "--addr") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
