package fastlane

import (
	"crypto/tls"
	"net/http"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/internal/certtest"
)

// TestTLS calls over TLS. Handlers of both kinds know the client's name.
func TestTLS(t *testing.T) {
	ca := certtest.New(t)
	server := &tls.Config{
		Certificates: []tls.Certificate{ca.Server(t, "127.0.0.1").TLS(t)}, NextProtos: []string{"h2", "http/1.1"},
		ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: ca.Pool(), MinVersion: tls.VersionTLS13,
	}
	o := Options{
		TLS: server,
		Methods: map[string]Handler{echoPath: HandlerFunc(func(c *Call, _ []byte) {
			if s := c.TLS(); s == nil || len(s.PeerCertificates) == 0 {
				c.Fail(codes.Unauthenticated, "who are you")
				return
			}
			c.Reply([]byte(c.TLS().PeerCertificates[0].DNSNames[0]))
		})},
		Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Message", r.TLS.PeerCertificates[0].DNSNames[0])
			w.Header().Set("Grpc-Status", "7")
		}),
	}
	w := newWhy(&o)
	_, addr := start(t, o)
	known := &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Client(t, "client.test").TLS(t)}}

	cc := dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(known)))
	if out, err := call(t.Context(), cc, echoPath, nil); err != nil || string(out) != "client.test" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := call(t.Context(), cc, "/other/Method", nil); status.Convert(err).Message() != "client.test" {
		t.Errorf("fallback: %v", err)
	}
	cc = dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: ca.Pool()})))
	if _, err := call(t.Context(), cc, echoPath, nil); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a certificate: %v", err)
	}

	// Not HTTP/2, and not TLS.
	old := known.Clone()
	old.NextProtos = []string{"http/1.1"}
	if nc, err := tls.Dial("tcp", addr, old); err == nil {
		over(t, nc).closed()
	}
	if r := <-w.closed; r != Handshake {
		t.Errorf("http/1.1 closed for %s", r)
	}
	p := rawPeer(t, addr)
	p.raw([]byte(preface))
	p.closed()
	if r := <-w.closed; r != Handshake {
		t.Errorf("clear text closed for %s", r)
	}
}

// TestTLSDrain shuts down over TLS.
func TestTLSDrain(t *testing.T) {
	ca := certtest.New(t)
	s, addr := start(t, Options{
		TLS:     &tls.Config{Certificates: []tls.Certificate{ca.Server(t, "127.0.0.1").TLS(t)}, NextProtos: []string{"h2"}},
		Methods: map[string]Handler{echoPath: echo},
	})
	cc := dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: ca.Pool()})))
	if _, err := call(t.Context(), cc, echoPath, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
