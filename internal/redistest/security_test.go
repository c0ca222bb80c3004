package redistest

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"
)

func TestTLSAsksForACertificate(t *testing.T) {
	t.Parallel()
	s := Start(t, WithTLS(), WithPassword("secret"))
	if got := s.MustDo("PING"); got != "PONG" { // a TLS reply, logged in
		t.Errorf("PING = %v", got)
	}
	pair, err := tls.LoadX509KeyPair(s.Certs().ClientCertFile, s.Certs().ClientKeyFile)
	if err != nil || len(pair.Certificate) == 0 {
		t.Errorf("client certificate: %v", err)
	}

	plain := s.cfg
	plain.tls = false
	if _, err := dial(s.Addr(), plain, time.Second); err == nil {
		t.Error("the server answered without TLS")
	}
	stranger := s.cfg
	stranger.certs = NewCerts(t)
	if _, err := dial(s.Addr(), stranger, time.Second); err == nil {
		t.Error("a client trusted a server of another authority")
	}
	anonymous := s.Certs().ClientConfig()
	anonymous.Certificates = nil
	anonymous.MaxVersion = tls.VersionTLS12 // 1.3 tells only when reading
	if c, err := tls.Dial("tcp", s.Addr(), anonymous); err == nil {
		_ = c.Close()
		t.Error("the server took a client without a certificate")
	}
}

func TestTLSReplicaSharesCerts(t *testing.T) {
	t.Parallel()
	primary := Start(t, WithTLS())
	primary.MustDo("SET", "k", "v")
	replica := Start(t, WithCerts(primary.Certs()), WithReplicaOf(primary.Addr()))
	if got := replica.MustDo("GET", "k"); got != "v" {
		t.Errorf("GET at the replica = %v", got)
	}
}

func TestPasswordIsRequired(t *testing.T) {
	t.Parallel()
	s := Start(t, WithPassword("secret"))
	s.MustDo("PING")
	c, err := dial(s.Addr(), config{}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.do("PING"); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("PING without a password: %v, want NOAUTH", err)
	}
}

func TestACLHolds(t *testing.T) {
	t.Parallel()
	s := Start(t, WithACL("default off", "weir on >secret ~weir:* +@all -@admin"))
	s.MustDo("SET", "other", "v") // the harness's own user may
	c, err := dial(s.Addr(), config{}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.do("AUTH", "weir", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.do("SET", "weir:k", "v"); err != nil {
		t.Errorf("SET of an allowed key: %v", err)
	}
	for _, args := range [][]string{{"GET", "other"}, {"CONFIG", "GET", "save"}} {
		if _, err := c.do(args...); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
			t.Errorf("%v: %v, want NOPERM", args, err)
		}
	}
}
