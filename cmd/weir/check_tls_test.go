package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// TestCheckTLS asks servers with and without TLS, rightly and wrongly.
func TestCheckTLS(t *testing.T) { onEachEngine(t, testCheckTLS) }

func testCheckTLS(t *testing.T) {
	p := newPKI(t)
	dir := t.TempDir()
	file := func(name string, pair *certtest.Pair) []string {
		crt, key := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
		pair.Write(t, crt, key)
		return []string{"--tls-cert", crt, "--tls-key", key}
	}
	gateway := file("gateway", p.ca.Client(t, "gateway.test"))
	stranger := file("stranger", p.ca.Client(t, "stranger.test"))
	foreign := certtest.New(t)
	foreignCA := filepath.Join(dir, "foreign.crt")
	certtest.Write(t, foreignCA, foreign.PEM)
	ca := []string{"--tls-ca", p.cc}

	plain := startServe(t).addr(doorGRPC)
	secure := startServe(t, p.flags()...).addr(doorGRPC)
	mutual := startServe(t, p.flags("--tls-client-ca", p.cc, "--tls-client-san", "gateway.test")...).addr(doorGRPC)
	exempt := startServe(t, p.flags("--tls-client-ca", p.cc, "--tls-health-exempt")...).addr(doorGRPC)
	join := func(parts ...[]string) (all []string) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, tc := range []struct {
		name, addr string
		args       []string
		code       int
		want       string // in the error
	}{
		{"authority", secure, ca, exitOK, ""},
		{"https", "https://" + secure, ca, exitOK, ""},
		{"another name", secure, join(ca, []string{"--tls-server-name", "weir.test"}), exitOK, ""},
		{"both sides", mutual, join(ca, gateway), exitOK, ""},
		{"no TLS, as ever", plain, nil, exitOK, ""},
		{"forgotten", secure, nil, exitError, "give --tls or --tls-ca"},
		{"the system's authorities", secure, []string{"--tls"}, exitError, "give the file of its authority with --tls-ca"},
		{"https, the system's authorities", "https://" + secure, nil, exitError, "give the file of its authority with --tls-ca"},
		{"another authority", secure, []string{"--tls-ca", foreignCA}, exitError, "give the file of its authority with --tls-ca"},
		{"a wrong name", secure, join(ca, []string{"--tls-server-name", "other.test"}), exitError, "--tls-server-name"},
		{"TLS where there is none", plain, ca, exitError, "leave --tls out"},
		{"no certificate", mutual, ca, exitError, "give --tls-cert and --tls-key"},
		{"no certificate, health for all", exempt, ca, exitError, "a client certificate is required (give --tls-cert and --tls-key)"},
		{"a certificate, health for all", exempt, join(ca, gateway), exitOK, ""},
		{"a stranger's certificate", mutual, join(ca, stranger), exitError, "--tls-client-san"},
		{"half a pair", mutual, join(ca, gateway[:2]), exitUsage, "go together"},
		{"no such file", mutual, []string{"--tls-ca", "absent.crt"}, exitError, "absent.crt: there is no such file"},
	} {
		args := append([]string{"check", "--addr", tc.addr, "--dimension", "tenant=acme", "--hits", "0", "--timeout", "20s"}, tc.args...)
		code, out, errs := weirRun(t, args...)
		if code != tc.code || !strings.Contains(errs, tc.want) || (code == exitOK) != (out != "") {
			t.Errorf("%s: exit code %d, want %d; %q is not in %s", tc.name, code, tc.code, tc.want, errs)
		}
	}
}
