package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestTLSOwnAuthorityAndClientCertificate(t *testing.T) {
	srv := redistest.Start(t, redistest.WithTLS())
	s := open(t, Options{Addrs: []string{srv.Addr()}, TLS: srv.Certs().ClientConfig()})
	const capacity = 100
	if got := countAdmitted(t, crowd(s, 300, one("k", still(capacity)))); got != capacity {
		t.Errorf("%d admitted, want %d", got, capacity)
	}

	// The connection is renewed with TLS as well.
	srv.Restart()
	eventually(t, "an answer after a restart", func() error { return decide(s, one("k", still(capacity))).Err })
}

func TestTLSRefusals(t *testing.T) {
	srv := redistest.Start(t, redistest.WithTLS())
	stranger := redistest.NewCerts(t).ClientConfig()
	bare := srv.Certs().ClientConfig()
	bare.Certificates = nil
	otherName := srv.Certs().ClientConfig()
	otherName.ServerName = "redis.example.org"
	for name, tc := range map[string]*tls.Config{
		"another authority":     stranger,
		"no client certificate": bare,
		"another server's name": otherName,
		"no TLS":                nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(context.Background(), Options{Addrs: []string{srv.Addr()}, TLS: tc, ConnTimeout: time.Second})
			if err == nil {
				_ = s.Close()
				t.Fatal("connected")
			}
			switch code := weir.CodeOf(err); code {
			case weir.CodeRefused, weir.CodeProtocol:
			default:
				t.Errorf("error %v (%s), want refused or protocol", err, code)
			}
		})
	}
}

func TestTLSClusterAndSentinel(t *testing.T) {
	t.Run("sentinel", func(t *testing.T) {
		st := redistest.StartSentinel(t, 1, 0, redistest.WithTLS())
		s := open(t, Options{
			Addrs: st.Addrs(), Mode: Sentinel, MasterName: st.MasterName(),
			TLS: st.Primary().Certs().ClientConfig(),
		})
		admit(t, s, one("k", still(10)))
	})
	t.Run("cluster", func(t *testing.T) {
		c := redistest.StartCluster(t, 2, 0, redistest.WithTLS())
		s := open(t, Options{Addrs: c.Addrs()[:1], Mode: Cluster, TLS: c.Nodes()[0].Certs().ClientConfig()})
		for _, k := range []string{"a", "b", "c", "d", "e"} {
			admit(t, s, one(k, still(10)))
		}
	})
}

// TestTLSIsAskedForAnew: certificates of client, server and authority change
// one after the other, and each new connection is made with the newest.
func TestTLSIsAskedForAnew(t *testing.T) {
	srv := redistest.Start(t, redistest.WithTLS())
	certs := srv.Certs()
	broken := atomic.Bool{}
	s := open(t, Options{Addrs: []string{srv.Addr()}, TLSFor: func(context.Context) (*tls.Config, error) {
		if broken.Load() {
			return nil, errors.New("out of files")
		}
		return certs.ClientConfig(), nil
	}})
	const capacity = 10
	for range capacity - 1 {
		admit(t, s, one("k", still(capacity)))
		certs.Rotate(srv)
		srv.MustDo("CLIENT", "KILL", "TYPE", "normal")
	}
	admit(t, s, one("k", still(capacity)))
	if e := decide(s, one("k", still(capacity))); e.Err != nil || e.Admitted {
		t.Errorf("the counter was lost: admitted %v, %v", e.Admitted, e.Err)
	}

	broken.Store(true)
	srv.MustDo("CLIENT", "KILL", "TYPE", "normal")
	b := weir.Batch{Entries: []weir.Entry{one("k", still(capacity))}, Deadline: time.Now().Add(300 * time.Millisecond)}
	s.Decide(context.Background(), &b)
	err := b.Entries[0].Err
	wantCode(t, err, weir.CodeRefused)
	if !strings.Contains(err.Error(), "out of files") {
		t.Errorf("error %v does not say why", err)
	}
	broken.Store(false)
	eventually(t, "an answer", func() error { return decide(s, one("k", still(capacity))).Err })
}
