package e2e

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// TestInteropTLS: every client again, over TLS, where ALPN says that HTTP/2 is
// spoken; and who does not say so finds no connection.
func TestInteropTLS(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropTLS)
}

func testInteropTLS(t *testing.T) {
	d := newWardrobe(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, "policies:\n  - {id: tenants, by: [tenant], limits: [2/h]}\n")
	w := newInstance(t, "--config", path, "--tls-cert", d.cert, "--tls-key", d.key)
	w.scheme, w.web = "https", d.httpClient(new(atomic.Int64))
	w.start()
	w.awaitReady()
	_, port, err := net.SplitHostPort(w.grpc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := grpc.NewClient(w.grpc, grpc.WithTransportCredentials(credentials.NewTLS(d.client())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	interop(t, "grpc-go", true, invoke(ctx, conn))
	interop(t, "curl", false, curl("https://"+w.grpc, "--http2", "--cacert", d.clientCA))
	interop(t, "nghttp", true, nghttpAt("https://"+w.grpc).call)
	interop(t, "node", true, startNode(t, "localhost:"+port, d.clientCA).call)

	for name, protocols := range map[string][]string{"HTTP/1": {"http/1.1"}, "no ALPN": nil} {
		c := d.client()
		c.NextProtos = protocols
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", w.grpc, c)
		if err != nil {
			continue // refused by the handshake
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
		if n, err := conn.Read(make([]byte, 9)); err == nil || isTimeout(err) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		_ = conn.Close()
	}
}
